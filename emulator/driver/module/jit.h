/* driver_jit: the options of a call that takes code (CUjit_option) and the two logs that it may ask
 * for. The device compiles nothing, so that of the options only the logs have an effect; an option
 * that would change what code means is refused by name.
 *
 * Source: CUDA Driver API 13.0, CUjit_option.
 */
#ifndef OVERLAP_DRIVER_MODULE_JIT_H
#define OVERLAP_DRIVER_MODULE_JIT_H

#include "emulator/driver/driver.h"

/* A buffer of the submission's that fills up from the front; always ends with NUL. */
struct jit_log {
    char *text; /* NULL: nobody asked */
    size_t room, length;
    void **length_out; /* the option's value, which receives the length; NULL: none */
};

struct jit {
    struct jit_log info, error;
    void **wall_time; /* the option's value, which receives a float of milliseconds; NULL: none */
};

/* Reads `count` options. CUDA_ERROR_INVALID_VALUE for arrays that are missing or an option that
 * nobody knows; CUDA_ERROR_NOT_SUPPORTED, with a finding, for one that the device cannot honour.
 * Keeps pointers into `values`, and the buffers. */
CUresult jit_read(struct jit *jit, unsigned count, const CUjit_option *options, void **values);

/* Appends a line to a log. */
void jit_write(struct jit_log *log, const char *line);
/* Ends a call: `sentences` (may be empty) are why it failed with `code`. The information log stays
 * empty: there is no compiler that could tell of its work. */
void jit_finish(struct jit *jit, CUresult code, const char *sentences);

#endif
