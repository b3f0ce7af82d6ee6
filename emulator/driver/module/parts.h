/* What the files of module use of each other: images, libraries and kernels; the options of a call
 * that takes code (CUjit_option) and the two logs that it may ask for.
 */
#ifndef OVERLAP_DRIVER_MODULE_PARTS_H
#define OVERLAP_DRIVER_MODULE_PARTS_H

#include "emulator/driver/module/module.h"
#include "emulator/fatbin/fatbin.h"

struct jit;
struct ptx_function;
struct ptx_module;

/* ---- images ------------------------------------------------------------------------------- */

struct image {
    unsigned references;
    struct ptx_module **units; /* one, or with -rdc one per translation unit */
    size_t count;
    char *text; /* of the one unit, if that is shared or has entries to read; or NULL */
};

/* What cuModuleLoadData and cuLibraryLoadData are given. */
struct image_source {
    const void *data;
    size_t size;           /* as in fatbin.h */
    const struct jit *jit; /* the call's options, or NULL */
    bool later;            /* what a compiler has seen may be read at its first use */
};
/* Reads and parses it. On failure `log` has the sentences, and a finding has been made of them. */
CUresult image_open(const struct image_source *source, char *log, size_t log_size,
                    struct image **image);
/* The entry of that name in a unit, read. False: `log` says what is wrong with it. */
bool image_entry(struct image *image, size_t unit, const char *name, char *log, size_t log_size,
                 const struct ptx_function **entry);
CUresult image_open_file(const char *path, char *log, size_t log_size, struct image **image);
void image_release(struct image *image);
/* The whole of a file and a zero behind it, to be freed; otherwise a finding says why not. */
CUresult image_read_file(const char *path, char **data, size_t *size);
/* CUDA's code for what the reader of fat binaries answers. */
CUresult image_code(enum fatbin_result result);
/* CUDA_SUCCESS if the unit is of a PTX version and for a device that this one understands;
 * otherwise `log` says what it asks for. `chosen`: the architecture that a fat binary has it for,
 * where it stands for machine code of this device; 0: none. */
CUresult image_suits(const struct ptx_module *unit, unsigned chosen, char *log, size_t log_size);
/* Whether the functions that a unit uses, and the variables that it declares, are defined;
 * otherwise `log` names one that is not. Only the linker asks for variables: loading makes them. */
bool image_has_functions(const struct ptx_module *unit, char *log, size_t log_size);
bool image_has_variables(const struct ptx_module *unit, char *log, size_t log_size);

/* The PTX of part `index` of the toolkit's device runtime if the text calls it, else ""; NULL: no
 * part has that number. */
const char *device_runtime_for(const char *text, size_t index);

/* ---- modules, libraries ------------------------------------------------------------------- */

struct kernel {
    struct object object;
    struct library *library;
    const char *name;
    struct kernel *next; /* of the library */
    int max_dynamic_shared;
    int carveout;
    bool has_cluster; /* somebody has set: */
    struct function_cluster cluster;
};

struct library {
    struct object object;
    struct image *image; /* NULL: it could not be read, for the reason `failed`: told when used */
    CUresult failed;
    struct module *modules; /* at most one per context */
    struct kernel *kernels; /* handles given out */
};

void module_end(struct object *module, bool implicit);
/* Whether CUDA_MODULE_LOADING leaves code for its first use, as it does where it is not set. */
bool modules_load_lazily(void);
/* The library's instance in a context. */
CUresult library_module(struct library *library, struct context *context, struct module **module);
/* The kernel behind a handle, or NULL. */
struct kernel *kernel_find(CUkernel handle);
/* An entry point of that name in an image's units, in a module of a context. */
CUresult kernel_function(struct kernel *kernel, struct context *context,
                         struct function **function);

/* One attribute of a function. */
CUresult function_attribute(const struct function *function, CUfunction_attribute attribute,
                            int *value);
/* Checks and changes one. */
CUresult function_attribute_set(struct function *function, CUfunction_attribute attribute,
                                int value);

/* ---- options and logs (jit.c) ------------------------------------------------------------- */

/* A buffer of the submission's that fills up from the front; always ends with NUL. */
struct jit_log {
    char *text; /* NULL: nobody asked */
    size_t room, length;
    void **length_out; /* the option's value, which receives the length; NULL: none */
};

struct jit {
    struct jit_log info, error;
    void **wall_time; /* the option's value, which receives a float of milliseconds; NULL: none */
    unsigned max_registers; /* of a thread, of all functions of the code; 0: as many as it wants */
};

/* Reads `count` options. CUDA_ERROR_INVALID_VALUE for arrays that are missing or an option that
 * nobody knows; CUDA_ERROR_NOT_SUPPORTED, with a finding, for one that the device cannot honour.
 * Keeps pointers into `values`, and the buffers. */
CUresult jit_read(struct jit *jit, unsigned count, const CUjit_option *options, void **values);

/* What the options ask of code, as its own directives would. */
void jit_apply(const struct jit *jit, struct ptx_module *unit);

/* Ends a call: `sentences` (may be empty) are why it failed with `code`. The information log stays
 * empty: there is no compiler that could tell of its work. */
void jit_finish(struct jit *jit, CUresult code, const char *sentences);

#endif
