/* nvjitlink: stands in front of NVIDIA's run-time linker. NVIDIA's linker does every link and
 * reports its diagnostics. When the program then asks for machine code it gets the input PTX,
 * joined into one text; for LTO-IR, which only NVIDIA's linker can read, it gets the PTX that the
 * linker produces (-ptx). Inputs without PTX (cubins, host objects) leave the linker's own machine
 * code, which the device then refuses.
 *
 * libcudadevrt.a is not kept as an input: the device has its own version of what it supports
 * (device_runtime.c).
 *
 * Source: nvJitLink.h of CUDA 13.0.
 */
#include "emulator/base/file.h"
#include "emulator/fatbin/link.h"
#include "emulator/front/behind.h"
#include "emulator/ptx/ptx.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copied from nvJitLink.h, which not every toolkit has. */
typedef struct nvJitLink *nvJitLinkHandle;
typedef enum { NVJITLINK_SUCCESS = 0, NVJITLINK_ERROR_INTERNAL = 6 } nvJitLinkResult;
typedef enum {
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_LTOIR = 3,
    NVJITLINK_INPUT_INDEX = 7,
} nvJitLinkInputType;

struct linking {
    nvJitLinkHandle handle; /* NVIDIA's */
    unsigned capability;    /* -arch=sm_90: 90 */
    unsigned registers;     /* -maxrregcount=; 0: no limit */
    bool optimises;         /* -lto without -ptx: NVIDIA's linker is asked for PTX of the LTO-IR */
    bool has_machine_code;  /* some input has no PTX */
    struct fatbin inputs;
    struct fatbin_unit joined; /* once complete; without text: NVIDIA's cubin is returned */
    struct linking *next;
};
static struct linking *linkings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef nvJitLinkResult create_function(nvJitLinkHandle *, uint32_t, const char *const *);
typedef nvJitLinkResult destroy_function(nvJitLinkHandle *);
typedef nvJitLinkResult data_function(nvJitLinkHandle, nvJitLinkInputType, const void *, size_t,
                                      const char *);
typedef nvJitLinkResult file_function(nvJitLinkHandle, nvJitLinkInputType, const char *);
typedef nvJitLinkResult complete_function(nvJitLinkHandle);
typedef nvJitLinkResult size_function(nvJitLinkHandle, size_t *);
typedef nvJitLinkResult text_function(nvJitLinkHandle, void *);

/* Declares `function` as NVIDIA's function; if there is none, returns an error from the caller. */
#define FIND_BEHIND(type, function, name)                                                          \
    type *function;                                                                                \
    *(void **)&function = behind_function(BEHIND FRONT_BEHIND, name);                              \
    if (function == NULL) return NVJITLINK_ERROR_INTERNAL

/* Finds the state of a link; NULL: unknown. Used without the lock afterwards: one thread owns a
 * link. */
static struct linking *find(nvJitLinkHandle handle)
{
    pthread_mutex_lock(&lock);
    struct linking *linking = linkings;
    while (linking != NULL && linking->handle != handle) linking = linking->next;
    pthread_mutex_unlock(&lock);
    return linking;
}

/* ---- a link's beginning and end ----------------------------------------------------------- */

static void read_options(struct linking *linking, uint32_t count, const char *const *options)
{
    bool gives_ptx = false;
    for (uint32_t i = 0; i < count; i++) {
        if (options[i] == NULL) continue;
        sscanf(options[i], "-arch=sm_%u", &linking->capability);
        sscanf(options[i], "-maxrregcount=%u", &linking->registers);
        if (strcmp(options[i], "-lto") == 0) linking->optimises = true;
        if (strcmp(options[i], "-ptx") == 0) gives_ptx = true;
    }
    if (gives_ptx) linking->optimises = false;
}

static nvJitLinkResult create(nvJitLinkHandle *handle, uint32_t count, const char *const *options)
{
    FIND_BEHIND(create_function, behind, "nvJitLinkCreate");
    if (options == NULL || handle == NULL) return behind(handle, count, options);
    struct linking *linking = calloc(1, sizeof *linking);
    const char **with_ptx = calloc((size_t)count + 1, sizeof *with_ptx);
    nvJitLinkResult result = NVJITLINK_ERROR_INTERNAL;
    if (linking == NULL || with_ptx == NULL) goto done;
    read_options(linking, count, options);
    for (uint32_t i = 0; i < count; i++) with_ptx[i] = options[i];
    if (linking->optimises) with_ptx[count++] = "-ptx";
    result = behind(handle, count, with_ptx);
    if (result != NVJITLINK_SUCCESS) goto done;
    linking->handle = *handle;
    pthread_mutex_lock(&lock);
    linking->next = linkings;
    linkings = linking;
    pthread_mutex_unlock(&lock);
    linking = NULL;
done:
    free(linking);
    free(with_ptx);
    return result;
}

static nvJitLinkResult destroy(nvJitLinkHandle *handle)
{
    FIND_BEHIND(destroy_function, behind, "nvJitLinkDestroy");
    struct linking *linking = handle != NULL ? find(*handle) : NULL;
    if (linking != NULL) {
        pthread_mutex_lock(&lock);
        struct linking **link = &linkings;
        while (*link != linking) link = &(*link)->next;
        *link = linking->next;
        pthread_mutex_unlock(&lock);
        fatbin_close(&linking->inputs);
        free(linking->joined.text);
        free(linking);
    }
    return behind(handle);
}

/* ---- inputs ------------------------------------------------------------------------------- */

/* Keeps the PTX of an input that NVIDIA's linker has accepted. Returns false if memory runs out. */
static bool keep(struct linking *linking, nvJitLinkInputType type, const void *data, size_t size)
{
    struct fatbin added;
    char why[256];
    const char *bytes = data;
    if (type == NVJITLINK_INPUT_LTOIR || type == NVJITLINK_INPUT_INDEX) return true;
    /* The size of a text may include the terminating NUL. */
    while (size > 0 && type == NVJITLINK_INPUT_PTX && bytes[size - 1] == '\0') size--;
    const enum fatbin_result read =
        fatbin_open(data, size, linking->capability, &added, why, sizeof why);
    if (read != FATBIN_OK) {
        if (!linking->optimises) linking->has_machine_code = true;
        return read != FATBIN_NO_MEMORY;
    }
    struct fatbin *all = &linking->inputs;
    struct fatbin_unit *units =
        realloc(all->units, (all->count + added.count) * sizeof *all->units);
    if (units != NULL) {
        all->units = units;
        memcpy(units + all->count, added.units, added.count * sizeof *units);
        all->count += added.count;
        added.count = 0;
    }
    fatbin_close(&added);
    return units != NULL;
}

static bool is_device_runtime(const char *name)
{
    return name != NULL && strstr(name, "libcudadevrt") != NULL;
}

static nvJitLinkResult add_data(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                                size_t size, const char *name)
{
    FIND_BEHIND(data_function, behind, "nvJitLinkAddData");
    struct linking *linking = find(handle);
    const bool is_ours = linking != NULL && linking->optimises &&
                         (type == NVJITLINK_INPUT_PTX || is_device_runtime(name));
    const nvJitLinkResult result =
        is_ours ? NVJITLINK_SUCCESS : behind(handle, type, data, size, name);
    if (result == NVJITLINK_SUCCESS && linking != NULL && !is_device_runtime(name) &&
        !keep(linking, type, data, size))
        return NVJITLINK_ERROR_INTERNAL;
    return result;
}

static nvJitLinkResult add_file(nvJitLinkHandle handle, nvJitLinkInputType type, const char *path)
{
    FIND_BEHIND(file_function, behind, "nvJitLinkAddFile");
    size_t size;
    char *data = find(handle) != NULL && path != NULL ? file_read(path, &size) : NULL;
    if (data == NULL) return behind(handle, type, path);
    const nvJitLinkResult result = add_data(handle, type, data, size, path);
    free(data);
    return result;
}

/* ---- completion --------------------------------------------------------------------------- */

/* Adds the PTX that NVIDIA's linker made of LTO-IR to the inputs. */
static nvJitLinkResult take_optimised(struct linking *linking)
{
    FIND_BEHIND(size_function, size_of, "nvJitLinkGetLinkedPtxSize");
    FIND_BEHIND(text_function, text_of, "nvJitLinkGetLinkedPtx");
    size_t size = 0;
    nvJitLinkResult result = size_of(linking->handle, &size);
    if (result != NVJITLINK_SUCCESS) return result;
    char *text = calloc(1, size + 1);
    if (text == NULL) return NVJITLINK_ERROR_INTERNAL;
    result = text_of(linking->handle, text);
    if (result == NVJITLINK_SUCCESS && !keep(linking, NVJITLINK_INPUT_PTX, text, size))
        result = NVJITLINK_ERROR_INTERNAL;
    free(text);
    return result;
}

/* Limits the registers per thread as a directive in each kernel would. */
static bool limit_registers(struct linking *linking)
{
    struct ptx_diagnostics diagnostics = {0};
    struct ptx_module *module =
        ptx_parse(linking->joined.text, linking->joined.length, &diagnostics);
    if (module == NULL) return false;
    ptx_module_limit_registers(module, linking->registers);
    char *text = ptx_print(module);
    ptx_module_destroy(module);
    if (text == NULL) return false;
    free(linking->joined.text);
    linking->joined = (struct fatbin_unit){.text = text, .length = strlen(text)};
    return true;
}

static nvJitLinkResult complete(nvJitLinkHandle handle)
{
    FIND_BEHIND(complete_function, behind, "nvJitLinkComplete");
    struct linking *linking = find(handle);
    char why[256];
    nvJitLinkResult result = behind(handle);
    if (result != NVJITLINK_SUCCESS || linking == NULL) return result;
    if (linking->optimises) result = take_optimised(linking);
    if (result != NVJITLINK_SUCCESS || linking->has_machine_code || linking->inputs.count == 0)
        return result;
    const bool joined =
        fatbin_link(&linking->inputs, &linking->joined, why, sizeof why) == FATBIN_OK &&
        (linking->registers == 0 || limit_registers(linking)) &&
        fatbin_mark_linked(&linking->joined);
    return joined ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

static nvJitLinkResult cubin_size(nvJitLinkHandle handle, size_t *size)
{
    FIND_BEHIND(size_function, behind, "nvJitLinkGetLinkedCubinSize");
    const struct linking *linking = find(handle);
    if (linking == NULL || linking->joined.text == NULL || size == NULL)
        return behind(handle, size);
    *size = linking->joined.length + 1; /* with the terminating NUL */
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult cubin(nvJitLinkHandle handle, void *to)
{
    FIND_BEHIND(text_function, behind, "nvJitLinkGetLinkedCubin");
    const struct linking *linking = find(handle);
    if (linking == NULL || linking->joined.text == NULL || to == NULL) return behind(handle, to);
    memcpy(to, linking->joined.text, linking->joined.length + 1);
    return NVJITLINK_SUCCESS;
}

/* ---- exported names ----------------------------------------------------------------------- */

#define DEFINE(name, parameters, made, arguments)                                                  \
    PUBLIC nvJitLinkResult name parameters;                                                        \
    nvJitLinkResult name parameters                                                                \
    {                                                                                              \
        return made arguments;                                                                     \
    }

/* The header's functions are inline and call names with the version of their toolkit. */
#define NAMES_OF(suffix)                                                                           \
    NAME(Create, suffix, (nvJitLinkHandle * handle, uint32_t count, const char *const *options),   \
         create, (handle, count, options))                                                         \
    NAME(Destroy, suffix, (nvJitLinkHandle * handle), destroy, (handle))                           \
    NAME(AddData, suffix,                                                                          \
         (nvJitLinkHandle handle, nvJitLinkInputType type, const void *data, size_t size,          \
          const char *name),                                                                       \
         add_data, (handle, type, data, size, name))                                               \
    NAME(AddFile, suffix, (nvJitLinkHandle handle, nvJitLinkInputType type, const char *path),     \
         add_file, (handle, type, path))                                                           \
    NAME(Complete, suffix, (nvJitLinkHandle handle), complete, (handle))                           \
    NAME(GetLinkedCubinSize, suffix, (nvJitLinkHandle handle, size_t * size), cubin_size,          \
         (handle, size))                                                                           \
    NAME(GetLinkedCubin, suffix, (nvJitLinkHandle handle, void *to), cubin, (handle, to))

#define NAME(what, suffix, parameters, made, arguments)                                            \
    DEFINE(nvJitLink##what, parameters, made, arguments)
NAMES_OF()
#undef NAME
#define NAME(what, suffix, parameters, made, arguments)                                            \
    DEFINE(__nvJitLink##what##suffix, parameters, made, arguments)
NAMES_OF(_13_0)
NAMES_OF(_13_1)
NAMES_OF(_13_2)
NAMES_OF(_13_3)
NAMES_OF(_13_4)
NAMES_OF(_13_5)
