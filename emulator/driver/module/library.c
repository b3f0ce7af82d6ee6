/* Libraries and their kernels: code that is loaded once and used in any context. */
#include "emulator/driver/module/parts.h"

#include "emulator/driver/findings/handle.h"
#include "emulator/driver/stream/stream.h"

#include "emulator/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_SIZE = 2048 };

/* Returns true if the submission itself loads the library. The runtime loads the program's own
 * kernels on their first use, inside any call; such a library is not the submission's to unload. */
static bool asked_for(void)
{
    static const char by_name[] = "cudaLibraryLoad";
    return (thread.call.flags & OVERLAP_CALL_DRIVER) != 0 ||
           (thread.call.name != NULL &&
            strncmp(thread.call.name, by_name, sizeof by_name - 1) == 0);
}

/* Makes a library even if the image could not be loaded: like with lazily loaded modules, the error
 * is returned by the first call that uses the library.
 */
static CUresult library_make(struct image *image, CUresult failed, CUlibrary *handle)
{
    if (failed == CUDA_ERROR_OUT_OF_MEMORY) return failed;
    struct library *library = calloc(1, sizeof *library);
    if (library == NULL) {
        image_release(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->image = image;
    library->failed = failed;
    object_add(&library->object, OBJECT_LIBRARY);
    trace_object(&library->object, TRACE_CREATE, TRACE_LIBRARY, asked_for() ? 0 : TRACE_IMPLICIT);
    thread.call.object = library->object.id;
    *handle = (CUlibrary)library;
    return CUDA_SUCCESS;
}

CUresult driver_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                  void **jitOptionsValues, unsigned int numJitOptions,
                                  CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                  unsigned int numLibraryOptions)
{
    char log[LOG_SIZE] = "";
    struct jit jit;
    struct image *image = NULL;
    (void)libraryOptionValues;
    NEED_POINTER(library);
    NEED_POINTER(code);
    TRY(jit_read(&jit, numJitOptions, jitOptions, jitOptionsValues));
    if (numLibraryOptions > 0 && libraryOptions == NULL) return CUDA_ERROR_INVALID_VALUE;
    /* Hints about when and where the code is copied. */
    for (unsigned i = 0; i < numLibraryOptions; i++)
        if ((unsigned)libraryOptions[i] >= CU_LIBRARY_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    const struct image_source source = {
        .data = code, .size = FATBIN_UNKNOWN_SIZE, .jit = &jit, .later = modules_load_lazily()};
    CUresult outcome = image_open(&source, log, sizeof log, &image);
    jit_finish(&jit, outcome, log);
    return library_make(image, outcome, library);
}

CUresult driver_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                      CUjit_option *jitOptions, void **jitOptionsValues,
                                      unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                      void **libraryOptionValues, unsigned int numLibraryOptions)
{
    char log[LOG_SIZE] = "";
    struct jit jit;
    struct image *image = NULL;
    char *data;
    size_t size;
    (void)libraryOptions;
    (void)libraryOptionValues;
    (void)numLibraryOptions;
    NEED_POINTER(library);
    NEED_POINTER(fileName);
    TRY(jit_read(&jit, numJitOptions, jitOptions, jitOptionsValues));
    TRY(image_read_file(fileName, &data, &size));
    const struct image_source source = {
        .data = data, .size = size, .jit = &jit, .later = modules_load_lazily()};
    CUresult outcome = image_open(&source, log, sizeof log, &image);
    free(data);
    jit_finish(&jit, outcome, log);
    return library_make(image, outcome, library);
}

/* Waits, as cuModuleUnload does and as an H200 does, for the work of every context that has the
 * library's code. Returns the library; NULL: another thread has unloaded it meanwhile. An error of
 * that work becomes the call's result. */
static struct library *unused_library(struct library *library)
{
    const void *handle = library;
    for (size_t waited = 0; library != NULL; waited++) {
        const struct module *module = library->modules;
        for (size_t i = 0; i < waited && module != NULL; i++) module = module->next;
        if (module == NULL) break;
        const CUresult code = wait_for_context_on_gpus(module->object.context);
        if (thread.owed == CUDA_SUCCESS) thread.owed = code;
        library = object_peek(handle, OBJECT_LIBRARY);
    }
    return library;
}

CUresult driver_cuLibraryUnload(CUlibrary library)
{
    struct library *found = object_find(library, OBJECT_LIBRARY);
    if (found != NULL) found = unused_library(found);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    thread.call.object = found->object.id;
    while (found->modules != NULL) module_end(&found->modules->object, true);
    library_code_end(found);
    library_managed_end(found);
    while (found->kernels != NULL) {
        struct kernel *kernel = found->kernels;
        found->kernels = kernel->next;
        object_remove(&kernel->object);
        object_free(&kernel->object);
    }
    trace_object(&found->object, TRACE_DESTROY, TRACE_LIBRARY, 0);
    object_remove(&found->object);
    image_release(found->image);
    object_free(&found->object);
    return CUDA_SUCCESS;
}

/* ---- kernels ----------------------------------------------------------------------------- */

/* The handle of the entry point `entry`, created on the first request. */
static struct kernel *kernel_make(struct library *library, const struct ptx_function *entry)
{
    for (struct kernel *kernel = library->kernels; kernel != NULL; kernel = kernel->next)
        if (strcmp(kernel->name, entry->name) == 0) return kernel;
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) return NULL;
    kernel->library = library;
    kernel->name = entry->name;
    kernel->next = library->kernels;
    library->kernels = kernel;
    object_add(&kernel->object, OBJECT_KERNEL);
    return kernel;
}

static CUresult kernel_named(struct library *library, const char *name, CUkernel *kernel)
{
    TRY(library->failed);
    for (size_t u = 0; u < library->image->count; u++) {
        const struct ptx_function *entry = ptx_function_find(library->image->units[u], name);
        if (entry == NULL || !entry->is_entry) continue;
        *kernel = (CUkernel)kernel_make(library, entry);
        return *kernel != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult driver_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    struct library *found = object_find(library, OBJECT_LIBRARY);
    NEED_POINTER(pKernel);
    NEED_POINTER(name);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    return kernel_named(found, name, pKernel);
}

CUkernel function_kernel(const struct function *function)
{
    struct library *library = function->module->library;
    CUkernel kernel = NULL;
    if (library == NULL) return NULL;
    const char *name = exec_function_info(function->code)->name;
    return kernel_named(library, name, &kernel) == CUDA_SUCCESS ? kernel : NULL;
}

/* Writes a handle for each entry point, up to `room`; returns the number of entry points. */
static unsigned kernels_list(struct library *library, CUkernel *kernels, unsigned room)
{
    unsigned count = 0;
    for (size_t u = 0; library->image != NULL && u < library->image->count; u++) {
        const struct ptx_module *unit = library->image->units[u];
        for (uint32_t i = 0; i < unit->function_count; i++) {
            if (!unit->functions[i]->is_entry) continue;
            if (count < room) kernels[count] = (CUkernel)kernel_make(library, unit->functions[i]);
            count++;
        }
    }
    return count;
}

CUresult driver_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    struct library *found = object_find(lib, OBJECT_LIBRARY);
    NEED_POINTER(count);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *count = kernels_list(found, NULL, 0);
    return CUDA_SUCCESS;
}

CUresult driver_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    struct library *found = object_find(lib, OBJECT_LIBRARY);
    NEED_POINTER(kernels);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    kernels_list(found, kernels, numKernels);
    return CUDA_SUCCESS;
}

CUresult driver_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    struct library *found = object_find(library, OBJECT_LIBRARY);
    struct module *module;
    NEED_POINTER(pMod);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    TRY(library_module(found, thread_context(), &module));
    *pMod = (CUmodule)module;
    return CUDA_SUCCESS;
}

CUresult driver_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                   const char *name)
{
    CUmodule module;
    TRY(driver_cuLibraryGetModule(&module, library));
    return driver_cuModuleGetGlobal(dptr, bytes, module, name);
}

CUresult driver_cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                    const char *name)
{
    struct library *found = object_find(library, OBJECT_LIBRARY);
    uint64_t address;
    size_t size;
    NEED_POINTER(name);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (dptr == NULL && bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (bytes != NULL) *bytes = 0;
    TRY(library_managed(found, name, &address, &size));
    if (dptr != NULL) *dptr = address;
    if (bytes != NULL) *bytes = size;
    return CUDA_SUCCESS;
}

struct kernel *kernel_find(CUkernel handle)
{
    return object_find(handle, OBJECT_KERNEL);
}

static void apply_settings(const struct kernel_settings *settings, struct function *function)
{
    for (int i = 0; i < FUNCTION_SETTINGS; i++)
        if (settings->set & ~function->own & 1u << i)
            *function_setting_of(function, i) = settings->values[i];
}

CUresult kernel_function(struct kernel *kernel, struct context *context, struct function **function)
{
    struct module *module;
    if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    TRY(context_check(context));
    TRY(library_module(kernel->library, context, &module));
    TRY(module_function(module, kernel->name, function));
    apply_settings(&kernel->settings[context->device], *function);
    return CUDA_SUCCESS;
}

CUresult driver_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    struct kernel *found = kernel_find(kernel);
    struct function *function;
    NEED_POINTER(pFunc);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    TRY(kernel_function(found, thread_context(), &function));
    *pFunc = (CUfunction)function;
    return CUDA_SUCCESS;
}

CUresult driver_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    const struct kernel *found = kernel_find(kernel);
    NEED_POINTER(pLib);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *pLib = (CUlibrary)found->library;
    return CUDA_SUCCESS;
}

CUresult driver_cuKernelGetName(const char **name, CUkernel hfunc)
{
    const struct kernel *found = kernel_find(hfunc);
    NEED_POINTER(name);
    if (found == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *name = found->name;
    return CUDA_SUCCESS;
}

/* Finds a kernel and its function in the current context: attributes are properties of functions.
 * With no context current, the function is in none either. */
static CUresult function_of(CUkernel handle, struct kernel **kernel, struct function **function)
{
    *kernel = kernel_find(handle);
    if (*kernel == NULL) return CUDA_ERROR_INVALID_HANDLE;
    const struct context *context = thread_context();
    if (context == NULL) {
        struct module *module;
        TRY(library_code((*kernel)->library, &module));
        return module_function(module, (*kernel)->name, function);
    }
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return kernel_function(*kernel, thread_context(), function);
}

CUresult driver_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                     CUdevice dev)
{
    struct kernel *found;
    struct function *function;
    NEED_POINTER(pi);
    NEED_DEVICE(dev);
    TRY(function_of(kernel, &found, &function));
    const int setting = function_setting(attrib);
    const struct kernel_settings *settings = &found->settings[dev];
    if (setting < 0 || !(settings->set & 1u << setting))
        return function_attribute(function, attrib, pi);
    *pi = settings->values[setting];
    return CUDA_SUCCESS;
}

CUresult driver_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                     CUdevice dev)
{
    struct kernel *found;
    struct function *function;
    NEED_DEVICE(dev);
    TRY(function_of(kernel, &found, &function));
    TRY(function_attribute_check(function, attrib, &val, dev));
    const int setting = function_setting(attrib);
    struct kernel_settings *settings = &found->settings[dev];
    settings->values[setting] = val;
    settings->set |= 1u << setting;
    if (dev == device_current()) apply_settings(settings, function);
    return CUDA_SUCCESS;
}

CUresult driver_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    NEED_DEVICE(dev);
    if (kernel_find(kernel) == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if ((int)config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult driver_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                     size_t *paramSize)
{
    struct kernel *found;
    struct function *function;
    NEED_POINTER(paramOffset);
    if (thread_context() == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    TRY(function_of(kernel, &found, &function));
    return driver_cuFuncGetParamInfo((CUfunction)function, paramIndex, paramOffset, paramSize);
}
