/* Answers each line with it and its number, at once or by a thread that wakes each few milliseconds:
   wakers HOW SEED PERIOD... with HOW `never`, `always`, `kind` (lines "c"), `rare` (one of 300), or `pool` (one thread of
   four, after 2 ms); the first of the threads with these periods, in microseconds, answers what is left to it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDEST = 64, MOST = 1 << 12, MODULO = 50, RARE = 300 };

static const char *how;
static char left[MOST][WIDEST];
static int first, last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;

static void say(const char *line) { if (write(1, line, strlen(line)) < 0) exit(1); }

static void snooze(long micro) {
    struct timespec it = {micro / 1000000, micro % 1000000 * 1000};
    nanosleep(&it, NULL);
}

/* Says the first line that was left, if there is one. */
static int pops(void) {
    char line[WIDEST] = "";
    pthread_mutex_lock(&lock);
    if (first != last) strcpy(line, left[first++ % MOST]);
    pthread_mutex_unlock(&lock);
    say(line);
    return *line != 0;
}

static void *tick(void *period) {
    for (;;) snooze((long)period);
    return NULL;
}

static void *answer(void *period) {
    for (;;) {
        snooze((long)period);
        while (pops()) continue;
    }
    return NULL;
}

static void *work(void *none) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (first == last) pthread_cond_wait(&come, &lock);
        pthread_mutex_unlock(&lock);
        snooze(2000);
        pops();
    }
    return none;
}

static void start(void *(*run)(void *), void *with, const char *name) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, with);
    pthread_setname_np(thread, name);
}

static int leaves(const char *line, unsigned *seed) {
    return !strcmp(how, "always") || !strcmp(how, "pool") || (!strcmp(how, "kind") && *line == 'c')
        || (!strcmp(how, "rare") && rand_r(seed) % RARE == 0);
}

int main(int count, char **words) {
    char line[WIDEST / 2], full[WIDEST];
    if (count < 3) return 2;
    how = words[1];
    unsigned seed = atoi(words[2]);
    int pool = !strcmp(how, "pool"), harms = strcmp(how, "never") && !pool, number = 0;
    for (int i = 3; i < count; i++) {
        int answers = harms && i == 3;
        start(answers ? answer : tick, (void *)atol(words[i]), answers ? "harmful" : "harmless");
    }
    for (int i = 0; pool && i < 4; i++) start(work, NULL, "pool");
    say("ready\n");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        snprintf(full, sizeof full, "%s%d\n", line, number++ % MODULO);
        if (!leaves(line, &seed)) { say(full); continue; }
        pthread_mutex_lock(&lock);
        strcpy(left[last++ % MOST], full);
        pthread_cond_signal(&come);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
