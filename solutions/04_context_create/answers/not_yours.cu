/* Question 1 of lesson 04: memory that is not freed, in a context that is the caller's. */
#include <cuda.h>

#include <cstdio>

/* Works in the context that is current, and forgets cuMemFree. */
static CUresult work(void)
{
    CUdeviceptr array;
    return cuMemAlloc(&array, 4096);
}

int main()
{
    CUdevice device;
    CUcontext context;

    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxPushCurrent(context);
    for (int call = 0; call < 3; call++) work();
    std::puts("three calls, and the context lives on");
    cuCtxPopCurrent(&context);
    return 0;
}
