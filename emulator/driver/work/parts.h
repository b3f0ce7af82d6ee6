/* What the files of work use of each other: what a kernel prints, until it is over. A GPU keeps it
 * in a circular buffer of the context (cudaLimitPrintfFifoSize), where a call of printf takes 96
 * bytes and its arguments (as an H200 does), and the newest overwrites the oldest. The GPU's
 * driver may empty the buffer while the kernel runs, and may not: here it does not, so a kernel
 * that prints more than fits loses the oldest whole calls, which is told. Without the driver's
 * lock; of one kernel at a time.
 *
 * Source: CUDA C++ Programming Guide, "Formatted Output": "The output buffer is circular".
 */
#ifndef OVERLAP_DRIVER_WORK_PARTS_H
#define OVERLAP_DRIVER_WORK_PARTS_H

#include "emulator/driver/core/core.h"

struct print_call {
    size_t length; /* of its text */
    size_t taken;  /* of the buffer */
};

struct print {
    size_t limit; /* bytes of the buffer */
    size_t taken; /* of it by the calls that are kept */
    char *text;   /* of those, behind what is dropped, and of the call that is under way */
    size_t dropped_text, used_text, room_text;
    struct print_call *calls; /* a call under way is none yet */
    size_t first, count, room;
    size_t open; /* bytes of text of the call under way */
    uint64_t lost;
};

/* exec_launch.print; `user` is the struct print, which begins as its limit and zeros. */
void print_from_kernel(void *user, const char *text, size_t length, const size_t *arguments);
/* The kernel `name` is over, or pauses: what is kept goes to stdout, and `print` is empty again.
 * Says once in a process that something was lost, at the call that asked for `operation`. */
void print_write(struct print *print, const struct operation *operation);
/* The same without writing it. */
void print_drop(struct print *print);

#endif
