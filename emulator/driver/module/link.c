/* The linker of cuLink*: joins PTX from several inputs into one text. cuLinkComplete returns that
 * text in place of a cubin; cuModuleLoadData and cuLibraryLoadData accept it like any other PTX. */
#include "emulator/driver/module/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/handle.h"

#include "emulator/fatbin/link.h"
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_SIZE = 2048 };

struct link {
    struct object object;
    struct jit jit;
    struct fatbin units; /* added so far */
    struct fatbin_unit joined;
    bool complete;
    bool broken; /* inputs contradict each other: every later call fails */
};

CUresult driver_cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                             CUlinkState *stateOut)
{
    struct jit jit;
    NEED_POINTER(stateOut);
    TRY(jit_read(&jit, numOptions, options, optionValues));
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    link->jit = jit;
    object_add(&link->object, OBJECT_LINK);
    *stateOut = (CUlinkState)link;
    return CUDA_SUCCESS;
}

CUresult driver_cuLinkDestroy(CUlinkState state)
{
    struct link *link = object_find(state, OBJECT_LINK);
    if (link == NULL) return CUDA_ERROR_INVALID_HANDLE;
    object_remove(&link->object);
    fatbin_close(&link->units);
    free(link->joined.text);
    object_free(&link->object);
    return CUDA_SUCCESS;
}

/* ---- inputs ------------------------------------------------------------------------------ */

/* Checks a text when it is added, as a compiler would. */
static CUresult check_text(const struct jit *jit, const struct fatbin_unit *unit, const char *name,
                           char *log, size_t size)
{
    struct ptx_diagnostics diagnostics = {0};
    struct ptx_module *module = ptx_parse(unit->text, unit->length, &diagnostics);
    if (module != NULL) {
        CUresult code = jit_compiles(jit, module, log, size);
        if (code == CUDA_SUCCESS) code = image_suits(module, 0, log, size);
        ptx_module_destroy(module);
        return code;
    }
    int used = snprintf(log, size, "error   : %s: ", name);
    if (used > 0 && (size_t)used < size)
        ptx_diagnostics_print(&diagnostics, log + used, size - (size_t)used);
    return CUDA_ERROR_INVALID_PTX;
}

/* Moves the units of `from` behind those of `to`. */
static bool append_units(struct fatbin *to, struct fatbin *from)
{
    struct fatbin_unit *units = realloc(to->units, (to->count + from->count) * sizeof *units);
    if (units == NULL) return false;
    memcpy(units + to->count, from->units, from->count * sizeof *units);
    to->units = units;
    to->count += from->count;
    free(from->units);
    *from = (struct fatbin){0};
    return true;
}

/* Checks for names defined twice, which is an error of the input that was added last. */
static CUresult check_names(struct link *link, const char *name, char *log, size_t size)
{
    struct fatbin_unit joined;
    char why[LOG_SIZE / 2];
    enum fatbin_result result = fatbin_link(&link->units, &joined, why, sizeof why);
    free(joined.text);
    if (result == FATBIN_OK) return CUDA_SUCCESS;
    snprintf(log, size, "error   : %s: %s", name, why);
    if (result != FATBIN_NO_MEMORY) link->broken = true;
    return result == FATBIN_NO_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_SOURCE;
}

static CUresult add(struct link *link, const void *data, size_t size, const char *name, char *log,
                    size_t log_size)
{
    struct fatbin added;
    char why[LOG_SIZE / 2];
    if (link->broken) return CUDA_ERROR_INVALID_SOURCE;
    enum fatbin_result result =
        fatbin_open(data, size, device_capability(), &added, why, sizeof why);
    if (result != FATBIN_OK) {
        snprintf(log, log_size, "error   : %s: %s", name, why);
        return image_code(result);
    }
    CUresult code = CUDA_SUCCESS;
    for (size_t i = 0; code == CUDA_SUCCESS && i < added.count; i++)
        code = check_text(&link->jit, &added.units[i], name, log, log_size);
    size_t before = link->units.count;
    if (code == CUDA_SUCCESS && !append_units(&link->units, &added))
        code = CUDA_ERROR_OUT_OF_MEMORY;
    if (code == CUDA_SUCCESS) code = check_names(link, name, log, log_size);
    while (code != CUDA_SUCCESS && link->units.count > before)
        free(link->units.units[--link->units.count].text);
    fatbin_close(&added);
    return code;
}

/* Returns true for the toolkit's device runtime, which the device replaces (device_runtime.c). */
static bool is_device_runtime(CUjitInputType type, const char *name)
{
    return type == CU_JIT_INPUT_LIBRARY && strstr(name, "libcudadevrt.") != NULL;
}

/* Returns an error for kinds of input that cannot be linked. */
static CUresult check_kind(CUjitInputType type, const char *name, char *log, size_t size)
{
    switch (type) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_CUBIN: /* rejected later, because it contains no PTX */
        return CUDA_SUCCESS;
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
        snprintf(log, size,
                 "error   : %s: the software device links PTX and fat binaries, and no host "
                 "objects, libraries or NVVM code",
                 name);
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Writes the result to the log and reports a failure as a finding. */
static CUresult finish(struct link *link, CUresult code, const char *log)
{
    jit_finish(&link->jit, code, log);
    if (code != CUDA_SUCCESS && *log != '\0')
        finding_tell(FINDING_MODULE_DOES_NOT_LINK, code, "%s", log);
    return code;
}

CUresult driver_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                              const char *name, unsigned int numOptions, CUjit_option *options,
                              void **optionValues)
{
    char log[LOG_SIZE] = "";
    struct jit of_input;
    struct link *link = object_find(state, OBJECT_LINK);
    if (link == NULL) return CUDA_ERROR_INVALID_HANDLE;
    NEED_POINTER(data);
    if (size == 0 || link->complete) return CUDA_ERROR_INVALID_VALUE;
    TRY(jit_read(&of_input, numOptions, options, optionValues));
    if (name == NULL) name = "an input without a name";
    if (is_device_runtime(type, name)) return CUDA_SUCCESS;
    CUresult code = check_kind(type, name, log, sizeof log);
    if (code == CUDA_SUCCESS) code = add(link, data, size, name, log, sizeof log);
    return finish(link, code, log);
}

CUresult driver_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                              unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    char *data;
    size_t size;
    if (object_find(state, OBJECT_LINK) == NULL) return CUDA_ERROR_INVALID_HANDLE;
    NEED_POINTER(path);
    TRY(image_read_file(path, &data, &size));
    CUresult code =
        driver_cuLinkAddData(state, type, data, size, path, numOptions, options, optionValues);
    free(data);
    return code;
}

/* ---- completion -------------------------------------------------------------------------- */

static CUresult complete(struct link *link, char *log, size_t size)
{
    static const char nothing[] = ".version 7.5\n.target sm_75\n.address_size 64\n";
    char why[LOG_SIZE / 2];
    struct fatbin_unit joined;
    if (link->broken) return CUDA_ERROR_INVALID_SOURCE;
    if (jit_runs(&link->jit, log, size) != CUDA_SUCCESS) {
        log[0] = '\0';
        return finding_unsupported("linking for another architecture than the device's");
    }
    if (link->units.count == 0) { /* nothing was added: an empty module */
        link->joined = (struct fatbin_unit){.text = strdup(nothing), .length = sizeof nothing - 1};
        return link->joined.text != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    enum fatbin_result result = fatbin_link(&link->units, &joined, why, sizeof why);
    if (result != FATBIN_OK) {
        snprintf(log, size, "error   : %s", why);
        return image_code(result);
    }
    struct ptx_diagnostics diagnostics = {0};
    struct ptx_module *module = ptx_parse(joined.text, joined.length, &diagnostics);
    CUresult code = CUDA_ERROR_INVALID_PTX;
    if (module == NULL)
        ptx_diagnostics_print(&diagnostics, log, size);
    else
        code = image_has_functions(module, log, size) && image_has_variables(module, log, size)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_SOURCE;
    if (code == CUDA_SUCCESS && link->jit.max_registers > 0) {
        jit_apply(&link->jit, module);
        char *text = ptx_print(module);
        if (text == NULL) code = CUDA_ERROR_OUT_OF_MEMORY;
        free(joined.text);
        joined = (struct fatbin_unit){.text = text, .length = text != NULL ? strlen(text) : 0};
    }
    ptx_module_destroy(module);
    if (code == CUDA_SUCCESS)
        link->joined = joined;
    else
        free(joined.text);
    return code;
}

CUresult driver_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    char log[LOG_SIZE] = "";
    struct link *link = object_find(state, OBJECT_LINK);
    if (link == NULL) return CUDA_ERROR_INVALID_HANDLE;
    NEED_POINTER(cubinOut);
    if (link->complete) return CUDA_ERROR_INVALID_HANDLE; /* only once */
    TRY(finish(link, complete(link, log, sizeof log), log));
    link->complete = true;
    thread_spend(timeline_model->module_load);
    *cubinOut = link->joined.text;
    if (sizeOut != NULL) *sizeOut = link->joined.length + 1; /* with the terminating NUL */
    return CUDA_SUCCESS;
}
