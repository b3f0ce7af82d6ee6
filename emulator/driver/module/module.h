/* module: loaded code. An image is parsed PTX and may be shared. A module is an image in one
 * context, with its variables placed in memory. A library is an image that becomes a module in each
 * context that uses it. A function belongs to a module, a kernel to a library.
 *
 * This room launches nothing (work/).
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
    struct library *library;        /* the library that it is an instance of; NULL: none */
    struct module *next;            /* next instance of that library */
    struct exec_program **programs; /* one per unit of the image */
    struct function *functions;     /* function handles given out */
    unsigned references;            /* one for the handle, one per pending launch */
};

/* Launch settings made on the function beforehand, by the launch functions from before CUDA 4
 * (work/before_cuda_4.c). */
struct told_launch {
    unsigned block[3], shared;
    unsigned size;             /* bytes of parameters, as set by the program */
    unsigned char *parameters; /* FUNCTION_PARAMETERS_MOST bytes; NULL: no parameter is set */
};
enum { FUNCTION_PARAMETERS_MOST = 32764 }; /* bytes, Technical Specifications */

/* Cluster settings made by cuFuncSetAttribute. */
struct function_cluster {
    int size[3]; /* blocks; zeros: not set */
    int non_portable;
    int policy; /* CUclusterSchedulingPolicy */
};

enum { FUNCTION_SETTINGS = 7 }; /* attributes that can be set */

struct function {
    struct object object;
    struct module *module;
    const struct exec_function *code;
    struct function *next; /* of the module */
    int max_dynamic_shared;
    int carveout;
    CUfunc_cache cache;
    struct function_cluster cluster;
    unsigned own; /* the attributes set by cuFuncSetAttribute, a bit each (FUNCTION_SETTINGS) */
    struct told_launch told;
};

void module_retain(struct module *module);
void module_release(struct module *module);
/* Finds the function of a CUfunction, or of a CUkernel in the current context or in `context`. */
CUresult function_find(CUfunction handle, struct function **function);
CUresult function_find_in(CUfunction handle, struct context *context, struct function **function);
/* The kernel that the function is an instance of; NULL: its module is none of a library. */
CUkernel function_kernel(const struct function *function);
/* Finds the module's function of that name and prepares its code on the first request. If the code
 * is faulty, the finding has been reported when this returns the error. */
CUresult module_function(struct module *module, const char *name, struct function **function);

/* Calls `found` for each managed variable of the module. */
void module_managed_variables(const struct module *module,
                              void (*found)(void *user, const struct memory_region *region),
                              void *user);

#endif
