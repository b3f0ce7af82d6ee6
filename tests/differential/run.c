#include "tests/differential/run.h"

#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diff_device {
    CUdevice device;
    CUcontext context;
    CUdeviceptr in, out;
    unsigned char *host_in, *host_out;
    int level;
};

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS) return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    fprintf(stderr, "differential: %s: %s\n", what, name);
    exit(2);
}

static void make_context(struct diff_device *device)
{
    must(cuDevicePrimaryCtxRetain(&device->context, device->device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(device->context), "cuCtxSetCurrent");
    must(cuMemAlloc(&device->in, DIFF_BUFFER), "cuMemAlloc");
    must(cuMemAlloc(&device->out, DIFF_BUFFER), "cuMemAlloc");
}

struct diff_device *diff_device_open(int level)
{
    struct diff_device *device = diff_allocate(1, sizeof *device);
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device->device, 0), "cuDeviceGet");
    make_context(device);
    device->host_in = diff_allocate(1, DIFF_BUFFER);
    device->host_out = diff_allocate(1, DIFF_BUFFER);
    device->level = level;
    return device;
}

void diff_device_close(struct diff_device *device)
{
    cuMemFree(device->in);
    cuMemFree(device->out);
    cuDevicePrimaryCtxRelease(device->device);
    free(device->host_in);
    free(device->host_out);
    free(device);
}

/* After a fault the context is unusable until it is reset. */
static void start_again(struct diff_device *device)
{
    cuDevicePrimaryCtxReset(device->device);
    cuDevicePrimaryCtxRelease(device->device);
    make_context(device);
}

static const char *kernel_name(size_t index, char *name, size_t size)
{
    snprintf(name, size, "k%zu", index);
    return name;
}

void diff_module(const struct diff_case *const *cases, size_t count, struct diff_text *text)
{
    diff_add(text, ".version 9.0\n.target sm_90\n.address_size 64\n");
    for (size_t k = 0; k < count; k++) {
        char name[24];
        diff_add(text, "// %s\n", cases[k]->name);
        cases[k]->write(cases[k], kernel_name(k, name, sizeof name), text);
    }
}

static int level_of(const struct diff_case *const *cases, size_t count, int asked)
{
    for (size_t k = 0; k < count && asked < 0; k++)
        if (cases[k]->plain) return 0;
    return asked < 0 ? 4 : asked;
}

static CUmodule load(const struct diff_case *const *cases, size_t count, int level, CUresult *error,
                     char *log, size_t size)
{
    struct diff_text text = {.bytes = NULL};
    diff_module(cases, count, &text);
    CUmodule module = NULL;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)size,
                      (void *)(uintptr_t)level_of(cases, count, level)};
    memset(log, 0, size);
    *error = cuModuleLoadDataEx(&module, text.bytes, 3, options, values);
    diff_text_free(&text);
    return *error == CUDA_SUCCESS ? module : NULL;
}

static CUresult launch(struct diff_device *device, const struct diff_case *one, CUfunction kernel)
{
    void *parameters[] = {&device->in, &device->out};
    memset(device->host_in, 0, DIFF_BUFFER);
    one->fill(one, device->host_in);
    CUresult result = cuMemcpyHtoD(device->in, device->host_in, one->in_bytes ? one->in_bytes : 8);
    if (result == CUDA_SUCCESS) result = cuMemsetD8(device->out, 0xcd, one->out_bytes);
    if (result == CUDA_SUCCESS)
        result = cuLaunchKernel(kernel, one->blocks, 1, 1, one->threads, 1, 1, 0, NULL, parameters,
                                NULL);
    if (result == CUDA_SUCCESS) result = cuCtxSynchronize();
    if (result == CUDA_SUCCESS)
        result = cuMemcpyDtoH(device->host_out, device->out, one->out_bytes);
    return result;
}

static void tell_error(struct diff_result *result, enum diff_state state, CUresult error,
                       const char *log)
{
    const char *name = "?";
    cuGetErrorName(error, &name);
    result->state = state;
    const int used = snprintf(result->message, sizeof result->message, "%s", name);
    /* Joins the log's lines into one. */
    size_t to = (size_t)used;
    if (*log && to + 2 < sizeof result->message) result->message[to++] = ' ';
    for (; *log && to + 1 < sizeof result->message; log++)
        result->message[to++] = *log == '\n' ? ' ' : *log;
    result->message[to] = 0;
}

void diff_device_run(struct diff_device *device, const struct diff_case *const *cases, size_t count,
                     diff_done *done, void *context)
{
    char log[2048];
    CUresult error;
    CUmodule module = load(cases, count, device->level, &error, log, sizeof log);
    if (!module && count > 1) {
        for (size_t k = 0; k < count; k++) diff_device_run(device, &cases[k], 1, done, context);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const struct diff_case *one = cases[k];
        struct diff_result result = {.state = DIFF_RAN};
        char name[24];
        CUfunction kernel = NULL;
        if (!module) {
            tell_error(&result, DIFF_REFUSED, error, log);
            done(context, one, &result, NULL, NULL);
            continue;
        }
        error = cuModuleGetFunction(&kernel, module, kernel_name(k, name, sizeof name));
        if (error == CUDA_SUCCESS) error = launch(device, one, kernel);
        if (error != CUDA_SUCCESS) {
            tell_error(&result, DIFF_FAILED, error, "");
            done(context, one, &result, device->host_in, NULL);
            /* Runs the remaining kernels of the module one by one, in a new context. */
            start_again(device);
            for (k++; k < count; k++) diff_device_run(device, &cases[k], 1, done, context);
            return;
        }
        result.hash = diff_digest(one, device->host_in, device->host_out, result.message,
                                  sizeof result.message);
        done(context, one, &result, device->host_in, device->host_out);
    }
    if (module) cuModuleUnload(module);
}
