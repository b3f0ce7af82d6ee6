// Right: a vector that grows by cuMemMap, values that streams write and wait for, a host function,
// the primary context.
#include "tests/programs/program.cuh"

#include <cuda.h>
#include <vector>
#define CU(x)                                                                                      \
    do {                                                                                           \
        CUresult r_ = (x);                                                                         \
        if (r_ != CUDA_SUCCESS) {                                                                  \
            const char *n_;                                                                        \
            cuGetErrorName(r_, &n_);                                                               \
            fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #x, n_);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
__global__ void iota(int *p, int from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[from + i] = from + i;
}
static void CUDA_CB tell(void *p)
{
    *(int *)p += 1;
}
int main()
{
    CU(cuInit(0));
    CUdevice dev;
    CU(cuDeviceGet(&dev, 0));
    CUcontext c;
    CU(cuDevicePrimaryCtxRetain(&c, dev));
    CU(cuCtxSetCurrent(c));
    int ok;
    CU(cuDeviceGetAttribute(&ok, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, dev));
    EXPECT(ok);
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, dev};
    size_t gr;
    CU(cuMemGetAllocationGranularity(&gr, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr va;
    CU(cuMemAddressReserve(&va, 4 * gr, 0, 0, 0));
    std::vector<CUmemGenericAllocationHandle> hs;
    CUmemAccessDesc acc = {{CU_MEM_LOCATION_TYPE_DEVICE, dev}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int per = (int)(gr / 4);
    for (int i = 0; i < 3; i++) {
        CUmemGenericAllocationHandle h;
        CU(cuMemCreate(&h, gr, &prop, 0));
        CU(cuMemMap(va + i * gr, gr, 0, h, 0));
        CU(cuMemSetAccess(va + i * gr, gr, &acc, 1));
        hs.push_back(h);
        iota<<<(1000 + 255) / 256, 256>>>((int *)va, i * per, 1000);
        CHECK(cudaGetLastError());
    }
    std::vector<int> got(1000);
    for (int i = 0; i < 3; i++) {
        CU(cuMemcpyDtoH(got.data(), va + i * gr, 4000));
        for (int j = 0; j < 1000; j++) EXPECT(got[j] == i * per + j);
    }
    CUstream s, t;
    CU(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CU(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    CUdeviceptr flag;
    CU(cuMemAlloc(&flag, 4));
    CU(cuMemsetD32(flag, 0, 1));
    CU(cuCtxSynchronize());
    int told = 0;
    CU(cuStreamWaitValue32(t, flag, 3, CU_STREAM_WAIT_VALUE_GEQ));
    CU(cuLaunchHostFunc(t, tell, &told));
    CU(cuStreamWriteValue32(s, flag, 3, 0));
    CU(cuStreamSynchronize(t));
    CU(cuStreamSynchronize(s));
    EXPECT(told == 1);
    CUpointer_attribute at = CU_POINTER_ATTRIBUTE_RANGE_SIZE;
    size_t rs;
    CU(cuPointerGetAttribute(&rs, at, flag));
    EXPECT(rs == 4);
    CUdeviceptr base;
    size_t sz;
    CU(cuMemGetAddressRange(&base, &sz, flag));
    EXPECT(base == flag);
    for (int i = 0; i < 3; i++) {
        CU(cuMemUnmap(va + i * gr, gr));
        CU(cuMemRelease(hs[i]));
    }
    CU(cuMemAddressFree(va, 4 * gr));
    CU(cuMemFree(flag));
    CU(cuStreamDestroy(s));
    CU(cuStreamDestroy(t));
    CU(cuDevicePrimaryCtxRelease(dev));
    puts("PASS");
    return 0;
}
