/* A server over UDP that answers each datagram once, late on purpose: late HOW MILLISECONDS. It prints its port first. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int sock;
static double delay; /* seconds */
static char text[2048];
static ssize_t length;
static struct sockaddr_in from;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int job;

static struct timespec spec(double seconds)
{
    struct timespec it = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    return it;
}

static struct timespec in(clockid_t clock, double seconds)
{
    struct timespec it, more = spec(seconds);
    clock_gettime(clock, &it);
    it.tv_sec += more.tv_sec;
    it.tv_nsec += more.tv_nsec;
    if (it.tv_nsec >= 1000000000) { it.tv_sec++; it.tv_nsec -= 1000000000; }
    return it;
}

static void answer(void) { sendto(sock, text, length, 0, (struct sockaddr *)&from, sizeof from); }

static ssize_t heard(void)
{
    socklen_t size = sizeof from;
    return length = recvfrom(sock, text, sizeof text, 0, (struct sockaddr *)&from, &size);
}

static void snooze(double seconds)
{
    struct timespec it = spec(seconds);
    nanosleep(&it, NULL);
}

static void compute(double seconds)
{
    struct timespec now, end = in(CLOCK_MONOTONIC, seconds);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void *late(void *none) { snooze(delay); answer(); return none; }

static void *chained(void *left)
{
    pthread_t next;
    snooze(delay / 8);
    if ((intptr_t)left > 1) { pthread_create(&next, NULL, chained, (void *)((intptr_t)left - 1)); pthread_detach(next); }
    else answer();
    return NULL;
}

static void *worker(void *none)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!job) pthread_cond_wait(&wake, &lock);
        struct timespec end = in(CLOCK_REALTIME, delay);
        while (pthread_cond_timedwait(&wake, &lock, &end) != ETIMEDOUT) continue;
        job = 0;
        pthread_mutex_unlock(&lock);
        answer();
    }
    return none;
}

static void rung(int number) { (void)number; answer(); }

static void ticker(int how)
{
    /* a time-out that is there before the input: what came is answered in the next tick */
    struct pollfd one = {sock, POLLIN, 0};
    int waiting = 0;
    struct timespec next = in(CLOCK_MONOTONIC, delay);
    (void)how;
    for (;;) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        next = in(CLOCK_MONOTONIC, delay);
        if (waiting) { answer(); waiting = 0; }
        if (poll(&one, 1, 0) == 1) { heard(); waiting = 1; }
    }
}

static void forked(int twice)
{
    pid_t child = fork();
    if (child == 0) {
        if (twice && fork() != 0) _exit(0);
        snooze(delay);
        answer();
        _exit(0);
    }
    if (twice) waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "plain";
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0), file = -1, pipes[2];
    struct epoll_event event = {.events = EPOLLIN, .data.fd = 0};
    pthread_t thread;
    delay = count > 2 ? atof(words[2]) / 1000 : 0;
    sock = socket(AF_INET, SOCK_DGRAM, 0);
    bind(sock, (struct sockaddr *)&own, sizeof own);
    getsockname(sock, (struct sockaddr *)&own, &size);
    signal(SIGCHLD, !strcmp(how, "child") ? SIG_IGN : SIG_DFL);
    if (!strcmp(how, "worker")) pthread_create(&thread, NULL, worker, NULL);
    if (!strcmp(how, "itimer")) signal(SIGALRM, rung);
    if (!strcmp(how, "fsync")) file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    if (!strcmp(how, "timerfd") || !strcmp(how, "epoll")) {
        epoll_ctl(epoll, EPOLL_CTL_ADD, sock, &event);
        event.data.fd = 1;
        epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
    }
    if (!strcmp(how, "helper")) {
        if (pipe(pipes)) return 1;
        /* a helper that is daemonized: two forks and a session of its own */
        if (fork() == 0) {
            setsid();
            if (fork() != 0) _exit(0);
            close(pipes[1]);
            while ((length = read(pipes[0], text, sizeof text)) > 0) {
                memcpy(&from, text, sizeof from);
                snooze(delay);
                sendto(sock, text + sizeof from, length - sizeof from, 0, (struct sockaddr *)&from, sizeof from);
            }
            _exit(0);
        }
        wait(NULL);
        close(pipes[0]);
    }
    printf("%d\n", ntohs(own.sin_port));
    fflush(stdout);
    if (!strcmp(how, "tick")) ticker(0);
    for (;;) {
        if (!strcmp(how, "timerpoll") || !strcmp(how, "timerselect") || !strcmp(how, "timerread")) {
            struct itimerspec once = {{0, 0}, spec(delay)};
            struct pollfd both[2] = {{sock, POLLIN, 0}, {timer, POLLIN, 0}};
            fd_set set;
            uint64_t times;
            heard();
            timerfd_settime(timer, 0, &once, NULL);
            FD_ZERO(&set);
            FD_SET(timer, &set);
            if (how[5] == 'p') poll(both, 2, -1);
            else if (how[5] == 's') select(timer + 1, &set, NULL, NULL, NULL);
            if (read(timer, &times, sizeof times) > 0) answer();
            continue;
        }
        if (!strcmp(how, "timerfd")) {
            struct itimerspec once = {{0, 0}, spec(delay)};
            uint64_t times;
            epoll_wait(epoll, &event, 1, -1);
            if (event.data.fd == 0) { heard(); timerfd_settime(timer, 0, &once, NULL); }
            else { if (read(timer, &times, sizeof times) > 0) answer(); }
            continue;
        }
        if (heard() < 0) continue;
        if (!strcmp(how, "plain")) answer();
        else if (!strcmp(how, "nanosleep")) { snooze(delay); answer(); }
        else if (!strcmp(how, "poll")) { poll(NULL, 0, (int)(delay * 1000)); answer(); }
        else if (!strcmp(how, "ppoll")) { struct timespec it = spec(delay); ppoll(NULL, 0, &it, NULL); answer(); }
        else if (!strcmp(how, "epoll")) { int empty = epoll_create1(0); epoll_wait(empty, &event, 1, (int)(delay * 1000)); close(empty); answer(); }
        else if (!strcmp(how, "select")) { struct timeval it = {0, (long)(delay * 1e6)}; select(0, NULL, NULL, NULL, &it); answer(); }
        else if (!strcmp(how, "pselect")) { struct timespec it = spec(delay); pselect(0, NULL, NULL, NULL, &it, NULL); answer(); }
        else if (!strcmp(how, "rcvtimeo")) {
            struct timeval it = {0, (long)(delay * 1e6)}, off = {0, 0};
            char none[16];
            setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &it, sizeof it);
            if (recv(sock, none, sizeof none, 0) < 0) answer();
            setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &off, sizeof off);
        }
        else if (!strcmp(how, "worker")) { pthread_mutex_lock(&lock); job = 1; pthread_cond_signal(&wake); pthread_mutex_unlock(&lock); }
        else if (!strcmp(how, "thread")) { pthread_create(&thread, NULL, late, NULL); pthread_detach(thread); }
        else if (!strcmp(how, "chain")) { pthread_create(&thread, NULL, chained, (void *)8); pthread_detach(thread); }
        else if (!strcmp(how, "child")) forked(0);
        else if (!strcmp(how, "forks")) forked(1);
        else if (!strcmp(how, "compute")) { compute(delay); answer(); }
        else if (!strcmp(how, "busy")) { compute(2 * delay); snooze(delay); compute(2 * delay); snooze(delay); answer(); }
        else if (!strcmp(how, "fsync")) { if (write(file, text, length) < 0) return 1; fsync(file); answer(); }
        else if (!strcmp(how, "many")) { for (int each = 0; each < 300; each++) answer(); }
        else if (!strcmp(how, "itimer")) { struct itimerval it = {{0, 0}, {0, (long)(delay * 1e6)}}; setitimer(ITIMER_REAL, &it, NULL); }
        else if (!strcmp(how, "helper")) {
            char whole[sizeof from + sizeof text];
            memcpy(whole, &from, sizeof from);
            memcpy(whole + sizeof from, text, length);
            if (write(pipes[1], whole, sizeof from + length) < 0) return 1;
        }
        else return 2;
    }
}
