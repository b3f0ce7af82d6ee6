/* run: runs cases on whatever device libcuda.so.1 is, several kernels to a module.
 *
 * Errors of one case (refused by the device's compiler, failed at run time) are results; an error
 * of the device itself ends the process with a sentence.
 */
#ifndef OVERLAP_TESTS_DIFFERENTIAL_RUN_H
#define OVERLAP_TESTS_DIFFERENTIAL_RUN_H

#include "tests/differential/differential.h"

enum diff_state {
    DIFF_UNTRIED,
    DIFF_RAN,
    DIFF_REFUSED, /* the module did not load: `message` */
    DIFF_FAILED,  /* the launch failed: `message` */
    DIFF_HUNG     /* written by the parent */
};

struct diff_result {
    enum diff_state state;
    uint64_t hash;
    char message[200];
};

struct diff_device;

/* `level`: how much the device's compiler optimises, 0 to 4; -1: as the cases say. */
struct diff_device *diff_device_open(int level);
void diff_device_close(struct diff_device *device);

/* Runs cases[0..count), all in one module if that loads. `done` is called after each with its
 * result, its input and its output (NULL unless it ran), before the next is begun. */
typedef void diff_done(void *context, const struct diff_case *one, const struct diff_result *result,
                       const unsigned char *in, const unsigned char *out);
void diff_device_run(struct diff_device *device, const struct diff_case *const *cases, size_t count,
                     diff_done *done, void *context);

/* The module's text. */
void diff_module(const struct diff_case *const *cases, size_t count, struct diff_text *text);

#endif
