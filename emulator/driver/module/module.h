/* driver_module: loaded code. An image is parsed PTX, shared; a module is an image in a context,
 * with its variables placed; a library is an image that becomes a module in each context that asks.
 * A function belongs to a module, a kernel to a library.
 */
#ifndef OVERLAP_DRIVER_MODULE_MODULE_H
#define OVERLAP_DRIVER_MODULE_MODULE_H

#include "emulator/driver/driver.h"
#include "emulator/exec/exec.h"
#include "emulator/fatbin/fatbin.h"

struct ptx_module;
struct library;

struct image {
    unsigned references;
    struct ptx_module **units; /* one, or with -rdc one per translation unit */
    size_t count;
};

/* Reads and parses what cuModuleLoadData and cuLibraryLoadData are given. `size` as in fatbin.h.
 * On failure `log` has the sentences, and a finding has been made of them. */
CUresult image_open(const void *data, size_t size, char *log, size_t log_size,
                    struct image **image);
CUresult image_open_file(const char *path, char *log, size_t log_size, struct image **image);
void image_release(struct image *image);
/* The whole of a file and a zero behind it, to be freed; otherwise a finding says why not. */
CUresult image_read_file(const char *path, char **data, size_t *size);
/* CUDA's code for what the reader of fat binaries answers. */
CUresult image_code(enum fatbin_result result);
/* CUDA_SUCCESS if the unit is of a PTX version and for a device that this one understands;
 * otherwise `log` says what it asks for. */
CUresult image_suits(const struct ptx_module *unit, char *log, size_t log_size);
/* Whether the functions that a unit uses, and the variables that it declares, are defined;
 * otherwise `log` names one that is not. Only the linker asks for variables: loading makes them. */
bool image_has_functions(const struct ptx_module *unit, char *log, size_t log_size);
bool image_has_variables(const struct ptx_module *unit, char *log, size_t log_size);

struct module {
    struct object object;
    struct image *image;
    struct library *library;        /* that it is an instance of; NULL: none */
    struct module *next;            /* of that library */
    struct exec_program **programs; /* one per unit of the image */
    struct function *functions;     /* handles given out */
    unsigned references;            /* the handle's, and one per pending launch */
};

struct function {
    struct object object;
    struct module *module;
    const struct exec_function *code;
    struct function *next; /* of the module */
    int max_dynamic_shared;
    int carveout;
    CUfunc_cache cache;
};

struct kernel {
    struct object object;
    struct library *library;
    const char *name;
    struct kernel *next; /* of the library */
    int max_dynamic_shared;
    int carveout;
};

struct library {
    struct object object;
    struct image *image; /* NULL: it could not be read, for the reason `failed`: told when used */
    CUresult failed;
    struct module *modules; /* at most one per context */
    struct kernel *kernels; /* handles given out */
};

void module_retain(struct module *module);
void module_release(struct module *module);
/* The module's function of that name, or NULL: its handle is made when first asked for. */
struct function *module_function(struct module *module, const char *name);
/* The library's instance in a context. */
CUresult library_module(struct library *library, struct context *context, struct module **module);
/* A CUfunction, or a CUkernel's function in the current context, or in another. */
CUresult function_find(CUfunction handle, struct function **function);
CUresult function_find_in(CUfunction handle, struct context *context, struct function **function);
/* The kernel behind a handle, or NULL. */
struct kernel *kernel_find(CUkernel handle);
/* An entry point of that name in an image's units, in a module of a context. */
CUresult kernel_function(struct kernel *kernel, struct context *context,
                         struct function **function);

/* One attribute of a function; `set` is what cuFuncSetAttribute changed. */
CUresult function_attribute(const struct exec_function_info *info, CUfunction_attribute attribute,
                            int max_dynamic_shared, int carveout, int *value);
/* Checks and changes one; the two that can be set. */
CUresult function_attribute_set(const struct exec_function_info *info,
                                CUfunction_attribute attribute, int value, int *max_dynamic_shared,
                                int *carveout);

/* Shared memory that a launch may ask for without opting in, and at most: bytes per block. */
enum { SHARED_DEFAULT = 48 << 10, SHARED_MOST = 227 << 10 };

#endif
