/* Declarations shared by the files of module/: images, libraries and kernels; the options of calls
 * that load code (CUjit_option) and the two logs that such a call may request.
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
    struct ptx_module **units; /* one; with -rdc, one per translation unit */
    size_t count;
    char *text; /* text of the only unit, if it is shared or still has entries to parse; else
                   NULL */
};

/* The input of cuModuleLoadData and cuLibraryLoadData. */
struct image_source {
    const void *data;
    size_t size;           /* as in fatbin.h */
    const struct jit *jit; /* the call's options, or NULL */
    bool later;            /* entries of compiler-generated code may be parsed on first use */
};
/* Opens and parses an image. On failure `log` explains why, and a finding has been reported. */
CUresult image_open(const struct image_source *source, char *log, size_t log_size,
                    struct image **image);
/* Finds the entry of that name in a unit and parses it if that is still to be done. On failure
 * returns false and `log` says what is wrong. */
bool image_entry(struct image *image, size_t unit, const char *name, char *log, size_t log_size,
                 const struct ptx_function **entry);
CUresult image_open_file(const char *path, char *log, size_t log_size, struct image **image);
void image_release(struct image *image);
/* Reads a whole file and appends a NUL; the caller frees *data. On failure reports a finding. */
CUresult image_read_file(const char *path, char **data, size_t *size);
/* CUDA's error code for a result of the fat-binary reader. */
CUresult image_code(enum fatbin_result result);
/* Returns CUDA_SUCCESS if this device supports the unit's PTX version and target; otherwise `log`
 * says what the unit requires. `chosen`: the architecture of the fat-binary entry, where the PTX
 * stands for machine code of this device; 0: none. */
CUresult image_suits(const struct ptx_module *unit, unsigned chosen, char *log, size_t log_size);
/* Return true if the functions that the unit uses, or the variables that it declares, are defined;
 * otherwise `log` names one that is not. Only the linker checks variables: loading creates
 * undefined ones. */
bool image_has_functions(const struct ptx_module *unit, char *log, size_t log_size);
bool image_has_variables(const struct ptx_module *unit, char *log, size_t log_size);

/* The PTX of part `index` of the toolkit's device runtime if `text` calls that part, else ""; NULL:
 * no such part. */
const char *device_runtime_for(const char *text, size_t index);

/* ---- modules, libraries ------------------------------------------------------------------- */

struct kernel {
    struct object object;
    struct library *library;
    const char *name;
    struct kernel *next; /* of the library */
    /* What cuKernelSetAttribute set, by device. It holds for the kernel's function in each context
     * of the device, but for what the function has been told by cuFuncSetAttribute. */
    struct kernel_settings {
        unsigned set; /* a bit for each attribute that was set */
        int values[FUNCTION_SETTINGS];
    } settings[MEMORY_DEVICES];
};

struct library {
    struct object object;
    struct image *image; /* NULL: could not be loaded because of `failed`, which is returned at the
                            first use */
    CUresult failed;
    struct module *modules;          /* at most one per context */
    struct library_managed *managed; /* its managed variables, which all contexts share */
    struct module *code;    /* in no context, for questions that are asked in none; NULL: not yet */
    struct kernel *kernels; /* kernel handles given out */
};

void module_end(struct object *module, bool implicit);
/* Returns true unless CUDA_MODULE_LOADING is EAGER: code may then be loaded on first use. */
bool modules_load_lazily(void);
/* The library's instance in a context, created on the first request. */
CUresult library_module(struct library *library, struct context *context, struct module **module);
/* The library's code in no context, without variables, created on the first request. */
CUresult library_code(struct library *library, struct module **module);
void library_code_end(struct library *library);
/* A managed variable of a library, which is one for all contexts and outlasts them. */
struct library_managed {
    struct library_managed *next;
    size_t unit;
    char *name;
    uint64_t address;
    bool has_contents; /* its initial ones, that the program may have changed since */
};
/* Finds the library's managed variable of that name, which needs no context. */
CUresult library_managed(struct library *library, const char *name, uint64_t *address,
                         size_t *bytes);
void library_managed_end(struct library *library);
/* The kernel of a handle; NULL (and a finding): invalid handle. */
struct kernel *kernel_find(CUkernel handle);
/* The kernel's function in a context, with the kernel's own settings applied. */
CUresult kernel_function(struct kernel *kernel, struct context *context,
                         struct function **function);

/* Reads one attribute of a function. */
CUresult function_attribute(const struct function *function, CUfunction_attribute attribute,
                            int *value);
/* The number of an attribute that can be set, and where a function has it; -1: it cannot. */
int function_setting(CUfunction_attribute attribute);
int *function_setting_of(struct function *function, int setting);
/* Checks a value for a function on a device, and makes it the one that is kept. */
CUresult function_attribute_check(const struct function *function, CUfunction_attribute attribute,
                                  int *value, int device);

/* ---- options and logs (jit.c) ------------------------------------------------------------- */

/* A log buffer of the submission. Filled from the front, always NUL-terminated. */
struct jit_log {
    char *text; /* NULL: no log requested */
    size_t room, length;
    void **length_out; /* option value that receives the length; NULL: none */
};

struct jit {
    struct jit_log info, error;
    void **wall_time;       /* option value that receives the time as a float in milliseconds; NULL:
                               none */
    unsigned max_registers; /* limit per thread for all functions of the code; 0: none */
    bool has_target;
    unsigned target; /* what the code is to be compiled for: CUjit_target */
};

/* Reads `count` options. Returns CUDA_ERROR_INVALID_VALUE for missing arrays or unknown options,
 * and CUDA_ERROR_NOT_SUPPORTED with a finding for an option that the device cannot honour. `jit`
 * keeps pointers into `values`, and the log buffers. */
CUresult jit_read(struct jit *jit, unsigned count, const CUjit_option *options, void **values);

/* Applies the options to the code, as directives in the code would. */
void jit_apply(const struct jit *jit, struct ptx_module *unit);

/* Returns CUDA_SUCCESS if the unit can be compiled for the target that the options name, if any;
 * otherwise `log` says why not. */
CUresult jit_compiles(const struct jit *jit, const struct ptx_module *unit, char *log,
                      size_t log_size);
/* Returns CUDA_SUCCESS if this device runs what was compiled for that target; else as above. */
CUresult jit_runs(const struct jit *jit, char *log, size_t log_size);

/* Ends a call: writes the logs. `sentences` (may be empty) say why the call failed with `code`. The
 * information log stays empty, since there is no compiler that could report anything. */
void jit_finish(struct jit *jit, CUresult code, const char *sentences);

#endif
