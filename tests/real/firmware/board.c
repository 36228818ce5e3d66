/* The firmware of a board for the tests: QEMU's lm3s6965evb, with UART0, GPIO port F and the watchdog.

   It boots with "boot CAUSE", tests itself for 0.1 s, says "ready NAME", and takes commands. NAME is a setting that is kept
   where the power does not reach: in a file of the host, by semihosting. -DFAULT=n builds it with a fault of its start. */

#include <stdint.h>

#define REG(address) (*(volatile uint32_t *)(address))
#define UART_DATA REG(0x4000C000)
#define UART_FLAGS REG(0x4000C018)
#define LED REG(0x40025004) /* bit 0 of the port alone: the address is the mask */
#define LED_DIRECTION REG(0x40025400)
#define CLOCK_GATES REG(0x400FE108)
#define WATCHDOG(offset) REG(0x40000000 + (offset))
#define SYSTICK_CONTROL REG(0xE000E010)
#define SYSTICK_RELOAD REG(0xE000E014)
#define SYSTICK_VALUE REG(0xE000E018)
#define ENABLE_IRQ REG(0xE000E100)

enum fault { NONE, MUTE, STALE, EARLY, FORGETFUL, LOOPING, LATE };
#ifndef FAULT
#define FAULT NONE
#endif

#define TICK 10u /* milliseconds */
#define TICKS 12500u /* of the clock in a millisecond */
#define LONGEST 500u /* milliseconds without a feed */
#define WARM 0x600DC0DEu

/* at the start of the RAM, which a reset does not touch: the cause is written from outside, too, as by a dip of the power */
struct kept {
    uint32_t warm, cause, resets;
};
#define KEPT ((volatile struct kept *)0x20000000)
enum cause { PIN, WDOG, BROWN, POR };
static const char *const CAUSES[] = {"pin", "wdog", "brown", "por"};

static int semihost(int operation, void *arguments) {
    register int r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static int file(int mode) {
    uint32_t arguments[] = {(uint32_t)"settings", mode, 8};
    return semihost(0x01, arguments);
}

static char load(void) {
    char name = '-';
    int handle = file(1); /* rb */
    if (handle < 0)
        return 0;
    uint32_t arguments[] = {handle, (uint32_t)&name, 1};
    semihost(0x06, arguments);
    semihost(0x02, arguments);
    return name;
}

static void store(char name) {
    int handle = file(5); /* wb */
    uint32_t arguments[] = {handle, (uint32_t)&name, 1};
    semihost(0x05, arguments);
    semihost(0x02, arguments);
}

static void print(const char *text) {
    for (; *text; text++) {
        while (UART_FLAGS & 0x20)
            ;
        UART_DATA = (uint8_t)*text;
    }
}

static void feed(void) {
    WATCHDOG(0xC00) = 0x1ACCE551;
    WATCHDOG(0x000) = LONGEST * TICKS;
    WATCHDOG(0x00C) = 1;
}

static volatile unsigned ticks;

static void tick(void) { ticks++; }

static void rest(void) {
    feed();
    __asm__ volatile("wfi"); /* a board that computes all the time would wait for a processor of the host all the time */
}

static void pause(unsigned milliseconds) {
    for (unsigned begun = ticks; (ticks - begun) * TICK < milliseconds;)
        rest();
}

static char name = '-';

static void name_line(const char *before) {
    char text[] = {name, '\n', 0};
    print(before);
    print(text);
}

static int same(const char *one, const char *other) {
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

static void command(const char *line) {
    if (same(line, "get"))
        name_line("name ");
    else if (same(line, "led"))
        print(LED ? "led 1\n" : "led 0\n");
    else if (same(line, "led on") || same(line, "led off")) {
        LED = line[5] == 'n';
        print("ok\n");
    } else if (line[0] == 's' && line[1] == 'e' && line[2] == 't' && line[3] == ' ') {
        name = line[4];
        if (FAULT != FORGETFUL)
            store(name);
        print("ok\n");
    } else if (same(line, "hang")) {
        print("ok\n");
        for (;;)
            __asm__ volatile("wfi");
    } else
        print("what?\n");
}

int main(void) {
    int cause = KEPT->warm == WARM ? (int)KEPT->cause : POR;
    KEPT->resets = cause == POR ? 0 : KEPT->resets + 1;
    if (FAULT != STALE || cause != WDOG)
        KEPT->cause = PIN;
    KEPT->warm = WARM;
    CLOCK_GATES = 0x20;
    LED_DIRECTION = 1;
    LED = 0;
    ENABLE_IRQ = 1u << 18;
    SYSTICK_RELOAD = TICK * TICKS - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7;
    feed();
    WATCHDOG(0x008) = 3; /* an interrupt first, and a reset at the second time */
    char kept = load();
    name = kept ? kept : '-';
    if (FAULT == LATE && !kept)
        pause(6000); /* a busy machine excuses one or two seconds: in 0.3 s it loses 0.25 */
    if (!kept)
        store('-');
    if (FAULT != MUTE || cause != BROWN) {
        print("boot ");
        print(CAUSES[cause & 3]);
        print("\n");
    }
    if (FAULT == LOOPING && KEPT->resets >= 3) {
        pause(50);
        REG(0xE000ED0C) = 0x05FA0004;
        for (;;)
            ;
    }
    pause(FAULT == EARLY ? TICK : 100);
    name_line("ready ");
    char line[16];
    unsigned length = 0;
    for (;;) {
        if (UART_FLAGS & 0x10) {
            rest();
            continue;
        }
        char byte = (char)UART_DATA;
        if (byte != '\n') {
            if (length + 1 < sizeof line)
                line[length++] = byte;
            continue;
        }
        line[length] = 0;
        length = 0;
        command(line);
    }
}

static void bitten(void) {
    KEPT->cause = WDOG; /* the reset follows */
    for (;;)
        __asm__ volatile("wfi");
}

static void stuck(void) {
    for (;;)
        ;
}

extern uint32_t stack_top[];
__attribute__((section(".vectors"), used)) static void *const vectors[16 + 19] = {
    stack_top, main, stuck, stuck, stuck, stuck, stuck, [15] = tick, [16 + 18] = bitten};
