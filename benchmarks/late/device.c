/* A small device on a serial line, as a firmware is: lines in, lines out, and two timers.

   `device FAULT` opens a pseudo-terminal and prints its name. It is on from the first line of its standard input to the
   end of that. It says `status N` each 0.2 s, N modulo 256. After `arm` its watchdog ends in 0.5 s unless it is kicked,
   and says `reset`.
   FAULT is none, or one that shows late: see FAULTS in device.py. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 200, WATCHDOG = 500, LINE = 256 }; /* milliseconds, milliseconds, bytes */

static int port, armed, changed, commands, number;
static long status_at, reset_at;
static const char *fault, *mode = "slow";

static long now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static int is(const char *name) { return !strcmp(fault, name); }

static void say(const char *text) {
    char line[LINE];
    int size = snprintf(line, sizeof line, "%s\n", text);
    if (write(port, line, size) != size) exit(1);
}

/* CRC-8 with the polynomial 0x07 */
static unsigned crc(const unsigned char *data, size_t size) {
    unsigned value = 0;
    while (size--) {
        value ^= *data++;
        for (int bit = 0; bit < 8; bit++) value = value & 0x80 ? (value << 1 ^ 0x07) & 0xff : value << 1;
    }
    return value;
}

static void restart(void) {
    armed = 1;
    reset_at = now() + WATCHDOG * (is("watchdog") && changed ? 2 : 1);
}

static void take_data(const char *text) {
    const char *end = strchr(text, ' ');
    char answer[LINE];
    if (!end) { say("unknown"); return; }
    size_t size = (size_t)(end - text);
    int wrong = crc((const unsigned char *)text, size) != strtoul(end + 1, 0, 16);
    if (wrong && !(is("empty") && !size)) { say("wrong"); return; }
    snprintf(answer, sizeof answer, "stored %zu", size);
    say(answer);
}

static void take(const char *line) {
    commands++;
    if (!strcmp(line, "mode fast") || !strcmp(line, "mode slow")) {
        changed |= strcmp(line + 5, mode) != 0;
        mode = line[5] == 'f' ? "fast" : "slow";
        say(mode);
    } else if (!strcmp(line, "arm") || (!strcmp(line, "kick") && armed)) {
        restart();
        say(line[0] == 'a' ? "armed" : "kicked");
    } else if (!strcmp(line, "disarm")) {
        armed = 0;
        say("disarmed");
    } else if (!strcmp(line, "kick")) {
        say("idle");
    } else if (!strncmp(line, "data ", 5)) {
        take_data(line + 5);
    } else {
        say("unknown");
    }
}

static void take_bytes(void) {
    static char line[LINE];
    static size_t size;
    char byte;
    if (read(port, &byte, 1) != 1) exit(0);
    if (byte != '\n') { if (size < sizeof line - 1) line[size++] = byte; return; }
    line[size] = 0;
    size = 0;
    take(line);
}

static void tick(long started) {
    char text[LINE];
    if (armed && now() >= reset_at) { armed = 0; say("reset"); }
    if (now() < status_at) return;
    status_at += STATUS;
    if ((is("commands") && commands >= 50) || (is("uptime") && now() - started >= 50000)) return;
    snprintf(text, sizeof text, "status %d", number);
    number = (number + 1) % 256;
    say(text);
}

int main(int argc, char **argv) {
    struct termios raw;
    fault = argc > 1 ? argv[1] : "none";
    port = posix_openpt(O_RDWR | O_NOCTTY);
    if (port < 0 || grantpt(port) || unlockpt(port)) return 1;
    int other = open(ptsname(port), O_RDWR | O_NOCTTY); /* kept open, or the line would hang up between two testers */
    if (other < 0 || tcgetattr(other, &raw)) return 1;
    cfmakeraw(&raw);
    if (tcsetattr(other, TCSANOW, &raw)) return 1;
    printf("%s\n", ptsname(port));
    fflush(stdout);
    if (getchar() == EOF) return 0; /* who has opened the terminal switches it on */
    if (nice(-15) == -1) errno = 0; /* as fast as hardware, beside a machine that is busy, where that is allowed */
    long started = now();
    status_at = started + STATUS;
    for (;;) {
        long due = armed && reset_at < status_at ? reset_at : status_at, wait = due - now();
        struct pollfd both[] = {{port, POLLIN, 0}, {0, POLLIN, 0}};
        if (poll(both, 2, wait < 0 ? 0 : (int)wait) < 0) return 1;
        if (both[1].revents) return 0;
        if (both[0].revents & POLLIN) take_bytes();
        tick(started);
    }
}
