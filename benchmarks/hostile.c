/* A library that is loaded before all others, so that a disk or a clock can fail without any rights. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int disk;                 /* the error of each writing to a file; 0: none */
static struct clock { int how; struct timespec at; } clocks[2]; /* of the day, and all others */

static int (*gettime)(clockid_t, struct timespec *);

void hostile_disk(int error) { disk = error; }

/* how: 1 stopped, 2 an hour ahead, 3 an hour back, 4 ever faster back */
void hostile_clock(int which, int how) {
    clock_gettime(which ? CLOCK_MONOTONIC : CLOCK_REALTIME, &clocks[which].at);
    clocks[which].how = how;
}

int clock_gettime(clockid_t id, struct timespec *now) {
    if (!gettime) gettime = dlsym(RTLD_NEXT, "clock_gettime");
    int done = gettime(id, now);
    struct clock *clock = &clocks[id != CLOCK_REALTIME];
    if (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC && id != CLOCK_BOOTTIME) return done;
    if (clock->how == 1) *now = clock->at;
    if (clock->how == 2) now->tv_sec += 3600;
    if (clock->how == 3) now->tv_sec -= 3600;
    if (clock->how == 4) now->tv_sec = 2 * clock->at.tv_sec - now->tv_sec;
    return done;
}

static int fails(int fd) {
    struct stat found;
    return disk && fd > 2 && !fstat(fd, &found) && S_ISREG(found.st_mode);
}

ssize_t write(int fd, const void *data, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (fails(fd)) { errno = disk; return -1; }
    return real(fd, data, size);
}

#define OPENING(name)                                                                    \
    int name(const char *path, int flags, ...) {                                         \
        static int (*real)(const char *, int, ...);                                      \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                       \
        if (disk && (flags & O_CREAT)) { errno = disk; return -1; }                      \
        return real(path, flags, mode);                                                  \
    }
OPENING(open)
OPENING(open64)
