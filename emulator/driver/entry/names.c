/* Names: of error codes, and of functions for cuGetProcAddress. */
#include "emulator/driver/core/core.h"
#include "emulator/driver/entry/entry.h"

#include <driver_types.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------ */

static const struct {
    int code;
    const char *name;
} names[] = {
#define NAME(code) {code, #code},
#include "emulator/driver/core/errors.def"
#undef NAME
};

static const struct {
    int code;
    const char *sentence;
} sentences[] = {
#define ERROR(code, sentence) {code, sentence},
#include "emulator/runtime/errors.def"
#undef ERROR
    /* Errors that the runtime does not have. */
    {CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"},
    {CUDA_ERROR_KEY_ROTATION, "an error happened during the key rotation sequence"},
};

CUresult driver_cuGetErrorName(CUresult error, const char **pStr)
{
    NEED_POINTER(pStr);
    *pStr = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && *pStr == NULL; i++)
        if (names[i].code == (int)error) *pStr = names[i].name;
    return *pStr != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuGetErrorString(CUresult error, const char **pStr)
{
    const char *name;
    NEED_POINTER(pStr);
    *pStr = NULL;
    if (driver_cuGetErrorName(error, &name) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences && *pStr == NULL; i++)
        if (sentences[i].code == (int)error) *pStr = sentences[i].sentence;
    if (*pStr == NULL) *pStr = name; /* a driver error without a sentence in the runtime's table */
    return CUDA_SUCCESS;
}

/* ---- functions --------------------------------------------------------------------------- */

/* Declared without prototypes: only the addresses are needed. */
#define ABSENT(name, since) extern int name##_absent(void) __asm__(#name);
#include "emulator/driver/entry/absent.def"
#undef ABSENT

static const struct function_row {
    const char *name;
    int since;
    bool supported;
    void *address;
} functions[] = {
#define ROW(name, implementation, since, needs) {#name, since, true, (void *)(uintptr_t)name},
#include "emulator/driver/core/driver.def"
#undef ROW
#define ABSENT(name, since) {#name, since, false, (void *)(uintptr_t)name##_absent},
#include "emulator/driver/entry/absent.def"
#undef ABSENT
};

/* Returns true if `full` is `plain`, optionally with a version, followed by `suffix`. */
static bool is_version_of(const char *full, const char *plain, const char *suffix)
{
    size_t length = strlen(plain);
    if (strncmp(full, plain, length) != 0) return false;
    full += length;
    if (full[0] == '_' && full[1] == 'v' && full[2] >= '0' && full[2] <= '9') full += 3;
    return strcmp(full, suffix) == 0;
}

/* Returns true for an exported name with a version or a default-stream suffix. cuGetProcAddress
 * takes those by its parameters and not by name.
 */
static bool is_of_one_version(const char *name)
{
    const size_t length = strlen(name);
    const char *end = name + length;
    if (length < 5) return false;
    return (end[-3] == '_' && end[-2] == 'v' && end[-1] >= '0' && end[-1] <= '9') ||
           strcmp(end - 5, "_ptsz") == 0 || strcmp(end - 5, "_ptds") == 0;
}

/* The latest version of `name` with `suffix` that is not newer than `version`. Among versions of
 * the same age a supported one wins, then the longer name. Sets *exists if any version exists. */
static const struct function_row *function_find(const char *name, int version, const char *suffix,
                                                bool *exists)
{
    const struct function_row *best = NULL;
    if (is_of_one_version(name)) return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function_row *row = &functions[i];
        if (strcmp(row->name, name) == 0 && *suffix == '\0' && best == NULL) *exists = true;
        if (!is_version_of(row->name, name, suffix)) continue;
        *exists = true;
        if (row->since > version) continue;
        if (best == NULL || row->since > best->since ||
            (row->since == best->since && row->supported >= best->supported &&
             strlen(row->name) > strlen(best->name)))
            best = row;
    }
    return best;
}

CUresult driver_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                                    cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
    NEED_POINTER(symbol);
    NEED_POINTER(pfn);
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    bool exists = false;
    const struct function_row *row = NULL;
    if (cudaVersion > driver_version() || (flags & ~known)) return CUDA_ERROR_INVALID_VALUE;
    *pfn = NULL;
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        row = function_find(symbol, cudaVersion, "_ptsz", &exists);
        if (row == NULL) row = function_find(symbol, cudaVersion, "_ptds", &exists);
    }
    if (row == NULL) row = function_find(symbol, cudaVersion, "", &exists);
    if (row != NULL) *pfn = row->address;
    if (symbolStatus != NULL)
        *symbolStatus = row != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
                        : exists    ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS; /* an unknown symbol is reported by *symbolStatus, not as an error */
}

CUresult driver_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return driver_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
