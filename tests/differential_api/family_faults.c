/* A kernel that fails, and the results of all later calls: the error stays with the context. */
#include "tests/differential_api/kernels.h"
#include "tests/differential_api/program.h"

struct faults {
    void *device, *pinned;
    cudaStream_t stream;
    cudaEvent_t recorded, fresh;
    CUmodule module;
    CUcontext context;
};

static void one_call(struct program *p, void *self)
{
    struct faults *t = self;
    void *memory = NULL;
    cudaEvent_t event = NULL;
    cudaStream_t stream = NULL;
    CUdeviceptr pointer = 0;
    CUcontext context = NULL;
    CUdevice device = 77;
    int value = 77;
    unsigned flags = 77;
    size_t free_size = 0, total = 0;
    char bytes[16] = {0};
    struct cudaPointerAttributes a;
    void *arguments[] = {&t->device};
    switch (draw(p, 44)) {
    case 0:
        rt(p, cudaMalloc(&memory, 64), "cudaMalloc()");
        break;
    case 1:
        rt(p, cudaMallocHost(&memory, 64), "cudaMallocHost()");
        break;
    case 2:
        rt(p, cudaMemcpy(bytes, t->device, 16, cudaMemcpyDefault), "cudaMemcpy()");
        break;
    case 3:
        rt(p, cudaMemset(t->device, 0, 16), "cudaMemset()");
        break;
    case 4:
        rt(p, cudaStreamQuery(t->stream), "cudaStreamQuery(s)");
        break;
    case 5:
        rt(p, cudaStreamSynchronize(t->stream), "cudaStreamSynchronize(s)");
        break;
    case 6:
        rt(p, cudaEventQuery(t->recorded), "cudaEventQuery(recorded)");
        break;
    case 7:
        rt(p, cudaEventSynchronize(t->recorded), "cudaEventSynchronize(recorded)");
        break;
    case 8:
        rt(p, cudaEventRecord(t->fresh, t->stream), "cudaEventRecord(fresh, s)");
        break;
    case 9:
        rt(p, cudaEventCreate(&event), "cudaEventCreate()");
        break;
    case 10:
        rt(p, cudaStreamCreate(&stream), "cudaStreamCreate()");
        break;
    case 11:
        rt(p, cudaGetDevice(&value), "cudaGetDevice()");
        break;
    case 12:
        rt(p, cudaSetDevice(0), "cudaSetDevice(0)");
        break;
    case 13:
        rt(p, cudaGetDeviceCount(&value), "cudaGetDeviceCount()");
        break;
    case 14:
        rt(p, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), "cudaDeviceGetAttribute()");
        break;
    case 15:
        rt(p, cudaPointerGetAttributes(&a, t->device), "cudaPointerGetAttributes()");
        break;
    case 16:
        rt(p,
           cudaLaunchKernel(kernel_address(KERNEL_BOUNDED), (dim3){1, 1, 1}, (dim3){32, 1, 1},
                            arguments, 0, NULL),
           "bounded<<<1, 32>>>()");
        break;
    case 17:
        rt(p, cudaMemGetInfo(&free_size, &total), "cudaMemGetInfo()");
        break;
    case 18:
        rt(p, cudaGetLastError(), "cudaGetLastError()");
        break;
    case 19:
        rt(p, cudaPeekAtLastError(), "cudaPeekAtLastError()");
        break;
    case 20:
        rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
        break;
    case 21:
        rt(p, cudaStreamGetFlags(t->stream, &flags), "cudaStreamGetFlags(s)");
        break;
    case 22:
        rt(p, cudaEventRecord(t->fresh, NULL), "cudaEventRecord(fresh, NULL)");
        break;
    case 23:
        rt(p, cudaStreamWaitEvent(t->stream, t->recorded, 0), "cudaStreamWaitEvent(s, recorded)");
        break;
    case 24:
        rt(p, cudaMallocAsync(&memory, 64, t->stream), "cudaMallocAsync(s)");
        break;
    case 25:
        dr(p, cuCtxGetDevice(&device), "cuCtxGetDevice()");
        break;
    case 26:
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        break;
    case 27:
        dr(p, cuMemAlloc(&pointer, 64), "cuMemAlloc()");
        break;
    case 28:
        dr(p, cuMemGetInfo(&free_size, &total), "cuMemGetInfo()");
        break;
    case 29:
        dr(p, cuStreamQuery(t->stream), "cuStreamQuery(s)");
        break;
    case 30:
        dr(p, cuEventQuery(t->fresh), "cuEventQuery(fresh)");
        break;
    case 31:
        dr(p, cuCtxGetCurrent(&context), "cuCtxGetCurrent()");
        break;
    case 32:
        dr(p, cuCtxGetFlags(&flags), "cuCtxGetFlags()");
        break;
    case 33:
        dr(p, cuCtxGetLimit(&total, CU_LIMIT_STACK_SIZE), "cuCtxGetLimit()");
        break;
    case 34:
        dr(p,
           cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 (CUdeviceptr)t->device),
           "cuPointerGetAttribute()");
        break;
    case 35:
        dr(p, cuDeviceGetCount(&value), "cuDeviceGetCount()");
        break;
    case 36:
        dr(p, cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain()");
        break;
    case 37:
        dr(p, cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate()");
        break;
    case 38:
        dr(p, cuStreamCreate(&stream, 0), "cuStreamCreate()");
        break;
    case 39:
        dr(p, cuModuleLoadData(&t->module, ".version 7.5\n.target sm_75\n.address_size 64\n"),
           "cuModuleLoadData()");
        break;
    case 40:
        rt(p, cudaDeviceGetLimit(&total, cudaLimitStackSize), "cudaDeviceGetLimit()");
        break;
    case 41:
        rt(p, cudaFuncSetCacheConfig(kernel_address(KERNEL_SCALE), cudaFuncCachePreferL1),
           "cudaFuncSetCacheConfig()");
        break;
    case 42:
        rt(p,
           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel_address(KERNEL_SCALE), 32,
                                                         0),
           "cudaOccupancyMaxActiveBlocksPerMultiprocessor()");
        break;
    default:
        dr(p, cuMemGetAddressRange(&pointer, &total, (CUdeviceptr)t->device),
           "cuMemGetAddressRange()");
        break;
    }
}

/* Uses each handle at most once. */
static void ending(struct program *p, struct faults *t)
{
    rt(p, cudaFree(t->device), "cudaFree()");
    rt(p, cudaFreeHost(t->pinned), "cudaFreeHost()");
    rt(p, cudaEventDestroy(t->recorded), "cudaEventDestroy()");
    rt(p, cudaStreamDestroy(t->stream), "cudaStreamDestroy()");
    rt(p, cudaGetLastError(), "cudaGetLastError()");
}

static void again(struct program *p)
{
    void *memory = NULL;
    rt(p, cudaDeviceReset(), "cudaDeviceReset()");
    rt(p, cudaGetLastError(), "cudaGetLastError()");
    rt(p, cudaMalloc(&memory, 64), "cudaMalloc()");
    rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    rt(p, cudaGetLastError(), "cudaGetLastError()");
}

static void nothing_runs(void *argument)
{
    *(volatile int *)argument = 1;
}

void family_faults(struct program *p)
{
    static volatile int called;
    struct faults t = {0};
    static const enum kernel failing[] = {KERNEL_TRAP, KERNEL_ILLEGAL, KERNEL_MISALIGNED,
                                          KERNEL_ASSERT};
    enum kernel k = failing[draw(p, 4)];
    void *arguments[] = {&t.device};
    rt(p, cudaMalloc(&t.device, 4096), "cudaMalloc()");
    cudaMallocHost(&t.pinned, 4096);
    cudaStreamCreate(&t.stream);
    cudaEventCreate(&t.recorded);
    cudaEventCreate(&t.fresh);
    CUcontext other = NULL;
    CUdeviceptr in_other = 0;
    if (chance(p, 25)) {
        dr(p, cuCtxCreate(&other, NULL, 0, 0), "cuCtxCreate(&other)");
        cuMemAlloc(&in_other, 64);
        cuMemsetD8(in_other, 9, 64);
        cuCtxSynchronize();
        dr(p, cuCtxPopCurrent(NULL), "cuCtxPopCurrent()");
    }
    cudaDeviceSynchronize();
    rt(p,
       cudaLaunchKernel(kernel_address(k), (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0,
                        t.stream),
       "%s<<<1, 1, 0, s>>>()", kernel_names[k]);
    /* Calls before the wait may or may not report the error, so they are not logged. */
    const bool host_function = chance(p, 50);
    if (host_function) cudaLaunchHostFunc(t.stream, nothing_runs, (void *)&called);
    switch (draw(p, 5)) {
    case 0:
        rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
        break;
    case 1:
        rt(p, cudaStreamSynchronize(t.stream), "cudaStreamSynchronize(s)");
        break;
    case 2:
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        break;
    case 3:
        dr(p, cuStreamSynchronize(t.stream), "cuStreamSynchronize(s)");
        break;
    default:
        rt(p, cudaMemcpy(t.pinned, t.device, 64, cudaMemcpyDefault), "cudaMemcpy() behind it");
        break;
    }
    if (host_function) cudaGetLastError();
    for (unsigned left = 6 + draw(p, 12); left > 0; left--) one_call(p, &t);
    if (other != NULL) {
        /* Another context of the same process, in which the kernel did not run. */
        unsigned char bytes[64] = {0};
        dr(p, cuCtxPushCurrent(other), "cuCtxPushCurrent(other)");
        dr(p, cuMemcpyDtoH(bytes, in_other, 64), "cuMemcpyDtoH(in the other)");
        note(p, "%u", bytes[63]);
        dr(p, cuMemsetD8(in_other, 7, 64), "cuMemsetD8(in the other)");
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        dr(p, cuCtxPopCurrent(NULL), "cuCtxPopCurrent()");
    }
    note(p, "host function called: %d", called);
    if (chance(p, 40)) ending(p, &t);
    if (chance(p, 40)) again(p);
    if (chance(p, 20)) {
        CUcontext context = NULL;
        dr(p, cuCtxGetCurrent(&context), "cuCtxGetCurrent()");
        dr(p, cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset()");
        dr(p, cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain()");
    }
}
