/* Sends back what comes, as fast as the machine can: `echo udp|tcp|pipe|tty`. It prints its port first, if it has one. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char data[65536];

static int bound(int kind) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    int fd = socket(AF_INET, kind, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&own, size) || getsockname(fd, (struct sockaddr *)&own, &size)) return -1;
    if (kind == SOCK_STREAM && listen(fd, 16)) return -1;
    printf("%d\n", ntohs(own.sin_port));
    fflush(stdout);
    return fd;
}

static void stream(int in, int out) {
    ssize_t n;
    while ((n = read(in, data, sizeof data)) > 0)
        if (write(out, data, n) != n) return;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    if (!strcmp(argv[1], "udp")) {
        struct sockaddr_in peer;
        int fd = bound(SOCK_DGRAM);
        for (;;) {
            socklen_t size = sizeof peer;
            ssize_t n = recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&peer, &size);
            if (n >= 0) sendto(fd, data, n, 0, (struct sockaddr *)&peer, size);
        }
    }
    if (!strcmp(argv[1], "tcp")) {
        int server = bound(SOCK_STREAM), one = 1;
        for (;;) {
            int fd = accept(server, NULL, NULL);
            if (fd < 0) return 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            stream(fd, fd);
            close(fd);
        }
    }
    stream(0, 1);
    return 0;
}
