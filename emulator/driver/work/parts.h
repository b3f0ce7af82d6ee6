/* Declarations shared by the files of work/: the output of a kernel's printf until the kernel ends.
 * A GPU keeps it in a circular buffer of the context (cudaLimitPrintfFifoSize), in which a call of
 * printf takes 96 bytes plus its arguments (as on an H200), and new output overwrites the oldest. A
 * GPU's driver may empty the buffer while the kernel runs. This device never does, so a kernel that
 * prints more than fits loses its oldest calls, and that is reported. These functions run without
 * the driver's lock, for one kernel at a time.
 *
 * Source: CUDA C++ Programming Guide, "Formatted Output": "The output buffer is circular".
 */
#ifndef OVERLAP_DRIVER_WORK_PARTS_H
#define OVERLAP_DRIVER_WORK_PARTS_H

#include "emulator/driver/core/core.h"

struct print_call {
    size_t length; /* bytes of text */
    size_t taken;  /* bytes of the buffer */
};

struct print {
    size_t limit; /* bytes of the buffer */
    size_t taken; /* bytes of the buffer taken by the kept calls */
    char *text;   /* dropped text, then the text of the kept calls, then that of the call in
                     progress */
    size_t dropped_text, used_text, room_text;
    struct print_call *calls; /* without the call in progress */
    size_t first, count, room;
    size_t open; /* bytes of text of the call in progress */
    uint64_t lost;
};

/* exec_launch.print; `user` is the struct print, initially zero but for its limit. */
void print_from_kernel(void *user, const char *text, size_t length, const size_t *arguments);
/* The kernel `name` has ended or pauses: writes the kept output to stdout and empties `print`. Lost
 * output is reported once per process, at the call that submitted `operation`. */
void print_write(struct print *print, const struct operation *operation);
/* Empties `print` without writing. */
void print_drop(struct print *print);

#endif
