/* A key-value store and a job queue for one client at a time over TCP: `fresh [serial]`.
   It prints its port. Every connection begins anew. With `serial` each reply ends with its number, so that nothing
   comes twice.

   store: "set K V" -> "ok", "get K" -> "is V"
   queue: "put" -> "job N" or "full", "take" -> "job N" or "empty", "done N" -> "ok" or "unknown"; N is the least free one */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEYS = 20000, JOBS = 3 };
static int values[KEYS], jobs[JOBS]; /* of a job: 0 free, 1 ready, 2 taken */

static int first(int state) {
    for (int job = 0; job < JOBS; job++)
        if (jobs[job] == state) return job;
    return -1;
}

static void answer(const char *line, char *reply, size_t size) {
    int key, value;
    if (sscanf(line, "set %d %d", &key, &value) == 2 && key >= 0 && key < KEYS) {
        values[key] = value;
        snprintf(reply, size, "ok");
    } else if (sscanf(line, "get %d", &key) == 1 && key >= 0 && key < KEYS) {
        snprintf(reply, size, "is %d", values[key]);
    } else if (sscanf(line, "done %d", &key) == 1) {
        int known = key >= 0 && key < JOBS && jobs[key] == 2;
        if (known) jobs[key] = 0;
        snprintf(reply, size, known ? "ok" : "unknown");
    } else {
        int put = !strncmp(line, "put", 3), job = first(put ? 0 : 1);
        if (job < 0) snprintf(reply, size, put ? "full" : "empty");
        else {
            jobs[job] = put ? 1 : 2;
            snprintf(reply, size, "job %d", job);
        }
    }
}

static void serve(int fd, int serial) {
    char line[256], reply[256];
    FILE *in = fdopen(fd, "r");
    memset(values, 0, sizeof values);
    memset(jobs, 0, sizeof jobs);
    for (long number = 1; fgets(line, sizeof line, in); number++) {
        answer(line, reply, sizeof reply - 32);
        size_t size = strlen(reply);
        size += serial ? sprintf(reply + size, " %ld\n", number) : sprintf(reply + size, "\n");
        if (write(fd, reply, size) != (ssize_t)size) break;
    }
    fclose(in);
}

int main(int argc, char **argv) {
    (void)argv;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (bind(listener, (struct sockaddr *)&at, size) || listen(listener, 8)) return 1;
    getsockname(listener, (struct sockaddr *)&at, &size);
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) return 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        serve(fd, argc > 1);
    }
}
