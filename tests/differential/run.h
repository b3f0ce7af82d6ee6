/* run: runs cases on the device behind libcuda.so.1, several kernels to a module.
 *
 * An error of one case (refused by the device's compiler, failed at run time) is a result; an error
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

/* `level`: optimisation level of the device's compiler, 0 to 4; -1: as each case says. */
struct diff_device *diff_device_open(int level);
void diff_device_close(struct diff_device *device);

/* Runs cases[0..count), all in one module if that loads. `done` is called after each case with its
 * result, input and output (NULL unless it ran), before the next case begins. */
typedef void diff_done(void *context, const struct diff_case *one, const struct diff_result *result,
                       const unsigned char *in, const unsigned char *out);
void diff_device_run(struct diff_device *device, const struct diff_case *const *cases, size_t count,
                     diff_done *done, void *context);

/* Writes the module's text. */
void diff_module(const struct diff_case *const *cases, size_t count, struct diff_text *text);

#endif
