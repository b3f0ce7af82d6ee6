/* The device's settings, read from the environment once, at cuInit. An invalid value is named on
 * standard error together with the default that is used instead; it has no other effect.
 *
 *   OVERLAP_ORDER              latest (default), earliest, random:SEED (host threads: threads/)
 *   OVERLAP_MEMORY             the device's memory, 1M to 64G; default 4G
 *   OVERLAP_WORKERS            host threads that run blocks, 1 to 64; default one per processor
 *   OVERLAP_GPU                the GPU that the virtual clock models: h100, ... (trace/gpus.h)
 *   OVERLAP_INSTRUCTION_LIMIT  warp instructions before a kernel is stopped as endless
 *   OVERLAP_NATIVE             off (default), on, always: machine code of hot kernels
 *   OVERLAP_NATIVE_CACHE       a folder in which that code is kept between runs; none if not set,
 *                              or with CUDA_CACHE_DISABLE=1
 *   OVERLAP_TURNS              on: host threads enter the device in turns (entry/turns.c)
 *   CUDA_DEVICE_MAX_CONNECTIONS  hardware queues, 1 to 32; default 8
 *   CUDA_LAUNCH_BLOCKING       not 0: a launch returns when its kernel has ended
 *   OVERLAP_DEVICES, CUDA_VISIBLE_DEVICES   existing and visible devices: core/devices.h
 *
 *   OVERLAP_RACES, OVERLAP_ADVICE   off: no race checking, no advice
 *   OVERLAP_QUIET              all: nothing is written on standard error; any other value: what the
 *                              trace records as well is not written.
 *
 * This file never reads OVERLAP_TRACE (trace) or OVERLAP_FAIL, which makes one call fail
 * (entry/entry.h).
 *
 * Source: CUDA Programming Guide, "CUDA Environment Variables".
 */
#include "emulator/driver/core/core.h"
#include "emulator/exec/exec.h"
#include "emulator/timeline/model.h"
#include "trace/gpus.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 48

static struct environment current;
static char order_name[NAME_SIZE];
static bool kept;

static enum { UNREAD, LOUD, TRACED, SILENT } quiet;

static void quiet_read(void)
{
    const char *text = getenv("OVERLAP_QUIET");
    quiet = text == NULL || *text == '\0' ? LOUD : strcmp(text, "all") == 0 ? SILENT : TRACED;
}

bool device_is_quiet(void)
{
    if (quiet == UNREAD) quiet_read();
    return quiet != LOUD;
}

void device_say(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    if (device_is_quiet() && quiet == SILENT) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "overlap: %s\n", line);
}

const struct environment *environment(void)
{
    return &current;
}

/* ---- numbers ----------------------------------------------------------------------------- */

enum { MEGABYTE = 20, GIGABYTE = 30 };

static const struct number {
    const char *name;
    uint64_t *value;
    uint64_t low, high, normal;
    bool size; /* K, M or G may follow */
    const char *range, *instead;
} numbers[] = {
    {"OVERLAP_MEMORY", &current.memory, 1ull << MEGABYTE, 64ull << GIGABYTE, 4ull << GIGABYTE, true,
     "a size from 1M to 64G (such as 512M or 4G)", "4G"},
    {"OVERLAP_WORKERS", &current.workers, 1, 64, 0, false, "a number from 1 to 64",
     "one per processor"},
    /* About a minute on one core; the lessons' kernels need a thousandth of this. */
    {"OVERLAP_INSTRUCTION_LIMIT", &current.instruction_limit, 1, UINT64_MAX, 4000000000u, false,
     "a number of warp instructions", "4000000000"},
    {"CUDA_DEVICE_MAX_CONNECTIONS", &current.connections, 1, 32, 8, false, "a number from 1 to 32",
     "8"},
};

static unsigned unit_of(char letter)
{
    switch (letter) {
    case 'k':
    case 'K':
        return 10;
    case 'm':
    case 'M':
        return MEGABYTE;
    case 'g':
    case 'G':
        return GIGABYTE;
    default:
        return 0;
    }
}

/* Parses digits, and a unit if `size` allows one, and nothing else. Returns false also when the
 * value does not fit in 64 bits. */
static bool read_number(const char *text, bool size, uint64_t *value)
{
    *value = 0;
    if (*text < '0' || *text > '9') return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        const unsigned digit = (unsigned)(*text - '0');
        if (*value > (UINT64_MAX - digit) / 10) return false;
        *value = 10 * *value + digit;
    }
    const unsigned shift = size ? unit_of(*text) : 0;
    if (shift > 0) text++;
    if (*value > UINT64_MAX >> shift) return false;
    *value <<= shift;
    return *text == '\0';
}

static bool number_taken(const struct number *number, const char *text, uint64_t *value)
{
    return read_number(text, number->size, value) && *value >= number->low &&
           *value <= number->high;
}

bool environment_memory(const char *text, uint64_t *bytes)
{
    return number_taken(&numbers[0], text, bytes);
}

static void number_read(const struct number *number)
{
    const char *text = getenv(number->name);
    *number->value = number->normal;
    if (text == NULL || *text == '\0') return;
    uint64_t value;
    if (number_taken(number, text, &value))
        *number->value = value;
    else
        device_say("%s=%.40s is not %s; using %s", number->name, text, number->range,
                   number->instead);
}

/* ---- words ------------------------------------------------------------------------------- */

static void order_read(void)
{
    static const char random[] = "random";
    const char *text = getenv("OVERLAP_ORDER");
    current.order = TIMELINE_LATEST;
    current.seed = 0;
    snprintf(order_name, sizeof order_name, "%s", text != NULL && *text != '\0' ? text : "latest");
    current.order_name = order_name;
    if (text == NULL || *text == '\0' || strcmp(text, "latest") == 0) return;
    if (strcmp(text, "earliest") == 0) {
        current.order = TIMELINE_EARLIEST;
        return;
    }
    if (strncmp(text, random, sizeof random - 1) == 0) {
        const char *seed = text + sizeof random - 1;
        current.seed = 1;
        if (*seed == '\0' || (*seed == ':' && read_number(seed + 1, false, &current.seed))) {
            current.order = TIMELINE_RANDOM;
            return;
        }
        current.seed = 0;
    }
    device_say("OVERLAP_ORDER=%.40s is none of latest, earliest, random:SEED (a number); "
               "using latest",
               text);
}

/* Returns the index of the GPU that OVERLAP_GPU names; 0 (the default GPU) without a valid one. */
static size_t gpu_read(void)
{
    const char *text = getenv(GPUS_VARIABLE);
    char names[128] = "";
    if (text == NULL || *text == '\0') return 0;
    for (size_t i = 0; timeline_model_name(i) != NULL; i++)
        if (strcmp(timeline_model_name(i), text) == 0) return i;
    for (size_t i = 0; timeline_model_name(i) != NULL; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                 timeline_model_name(i));
    }
    device_say(GPUS_VARIABLE "=%.40s is none of %s; using %s", text, names, timeline_model_name(0));
    return 0;
}

static void blocking_read(void)
{
    const char *text = getenv("CUDA_LAUNCH_BLOCKING");
    uint64_t value = 0;
    current.launch_blocking = false;
    if (text == NULL || *text == '\0') return;
    if (read_number(text, false, &value))
        current.launch_blocking = value != 0;
    else
        device_say("CUDA_LAUNCH_BLOCKING=%.40s is not 0 or 1; using 0", text);
}

static void native_read(void)
{
    static const char *const names[] = {
        [EXEC_NATIVE_OFF] = "off", [EXEC_NATIVE_ON] = "on", [EXEC_NATIVE_ALWAYS] = "always"};
    const char *text = getenv("OVERLAP_NATIVE"), *disable = getenv("CUDA_CACHE_DISABLE");
    exec_native_keep(disable != NULL && !strcmp(disable, "1") ? NULL
                                                              : getenv("OVERLAP_NATIVE_CACHE"));
    exec_native_use(EXEC_NATIVE_OFF);
    if (text == NULL || *text == '\0') return;
    for (unsigned use = 0; use < sizeof names / sizeof *names; use++) {
        if (strcmp(text, names[use]) != 0) continue;
        exec_native_use((enum exec_native_use)use);
        return;
    }
    device_say("OVERLAP_NATIVE=%.40s is not off, on or always; using off", text);
}

void environment_keep(void)
{
    environment_read();
    kept = true;
}

void environment_read_devices(void)
{
    if (kept) return;
    quiet_read();
    number_read(&numbers[0]);
    devices_read_there(current.memory, gpu_read());
}

void environment_read(void)
{
    if (kept) return;
    quiet_read();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) number_read(&numbers[i]);
    const char *races = getenv("OVERLAP_RACES");
    current.races = races == NULL || strcmp(races, "off") != 0;
    const char *advice = getenv("OVERLAP_ADVICE");
    current.advises = advice == NULL || strcmp(advice, "off") != 0;
    order_read();
    blocking_read();
    native_read();
    current.refusal = devices_read(current.memory, gpu_read());
}
