/* module: loaded code. An image is parsed PTX, shared; a module is an image in a context, with its
 * variables placed; a library is an image that becomes a module in each context that asks. A
 * function belongs to a module, a kernel to a library.
 *
 * It launches nothing (work).
 *
 * Source: CUDA Driver API 13.0, "Module Management", "Library Management".
 */
#ifndef OVERLAP_DRIVER_MODULE_MODULE_H
#define OVERLAP_DRIVER_MODULE_MODULE_H

#include "emulator/driver/core/core.h"
#include "emulator/exec/exec.h"

struct module {
    struct object object;
    struct image *image;
    struct library *library;        /* that it is an instance of; NULL: none */
    struct module *next;            /* of that library */
    struct exec_program **programs; /* one per unit of the image */
    struct function *functions;     /* handles given out */
    unsigned references;            /* the handle's, and one per pending launch */
};

/* What a function's launches of before CUDA 4 are told beforehand (work/before_cuda_4.c). */
struct told_launch {
    unsigned block[3], shared;
    unsigned size;             /* of the parameters, in bytes, as the program says */
    unsigned char *parameters; /* FUNCTION_PARAMETERS_MOST bytes; NULL: none is set */
};
enum { FUNCTION_PARAMETERS_MOST = 32764 }; /* bytes, Technical Specifications */

/* What cuFuncSetAttribute says of clusters. */
struct function_cluster {
    int size[3]; /* blocks; zeros: nothing is said */
    int non_portable;
    int policy; /* CUclusterSchedulingPolicy */
};

struct function {
    struct object object;
    struct module *module;
    const struct exec_function *code;
    struct function *next; /* of the module */
    int max_dynamic_shared;
    int carveout;
    CUfunc_cache cache;
    struct function_cluster cluster;
    struct told_launch told;
};

void module_retain(struct module *module);
void module_release(struct module *module);
/* A CUfunction, or a CUkernel's function in the current context, or in another. */
CUresult function_find(CUfunction handle, struct function **function);
CUresult function_find_in(CUfunction handle, struct context *context, struct function **function);
/* The module's function of that name, made ready when it is first asked for. What is wrong with its
 * code then has been told. */
CUresult module_function(struct module *module, const char *name, struct function **function);

/* Calls `found` for each managed variable of the module. */
void module_managed_variables(const struct module *module,
                              void (*found)(void *user, const struct memory_region *region),
                              void *user);

#endif
