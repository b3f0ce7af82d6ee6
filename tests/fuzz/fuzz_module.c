/* Arbitrary bytes as an image for cuModuleLoadData, and use of the result through the driver's API:
 * every function and its attributes. Nothing is launched, since a kernel that fails ends CUDA for
 * the process: that is fuzz_exec's part. The API gets no length, so a container is passed only if
 * it is as long as its header says; everything else in it may be wrong. */
#include "tests/fuzz/fuzz.h"

#include <cuda.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, LOG = 512, CONTAINER_HEADER = 16 };

static CUcontext context;

static void start(void)
{
    CUdevice device;
    if (context) return;
    setenv("OVERLAP_MEMORY", "64M", 1);
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate(&context, NULL, 0, device)) abort();
}

static void look_at(CUmodule module)
{
    CUfunction functions[MOST];
    unsigned count = 0;
    if (cuModuleGetFunctionCount(&count, module)) abort();
    if (count > MOST) count = MOST;
    if (count > 0 && cuModuleEnumerateFunctions(functions, count, module)) abort();
    for (unsigned k = 0; k < count; k++) {
        int value;
        for (int attribute = 0; attribute < CU_FUNC_ATTRIBUTE_MAX; attribute++)
            cuFuncGetAttribute(&value, (CUfunction_attribute)attribute, functions[k]);
        size_t offset, size, parameters = 0;
        while (cuFuncGetParamInfo(functions[k], parameters, &offset, &size) == CUDA_SUCCESS)
            parameters++;
    }
    if (cuModuleUnload(module)) abort();
}

/* Returns true when the outermost header claims no more than `size` bytes. */
static bool is_whole(const uint8_t *bytes, size_t size)
{
    static const uint32_t wrapper = 0x466243b1, container = 0xba55ed50;
    uint32_t magic;
    uint16_t header;
    uint64_t rest;
    if (size < CONTAINER_HEADER) return true;
    memcpy(&magic, bytes, sizeof magic);
    memcpy(&header, bytes + 6, sizeof header);
    memcpy(&rest, bytes + 8, sizeof rest);
    if (magic == wrapper) return false; /* an address */
    return magic != container || (header <= size && rest <= size - header);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char log[LOG] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule module;
    start();
    if (!is_whole(bytes, size)) return 0;
    uint8_t *image = calloc(1, size + CONTAINER_HEADER); /* text ends with a zero byte */
    if (!image) abort();
    memcpy(image, bytes, size);
    const CUresult code = cuModuleLoadDataEx(&module, image, 2, options, values);
    free(image);
    if (code == CUDA_SUCCESS)
        look_at(module);
    else if (!log[0])
        abort(); /* refused without a word */
    return 0;
}
