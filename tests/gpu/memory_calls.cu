// Copies, asked of a GPU: of every kind between every two kinds of memory, into and out of arrays,
// with sizes of 0 and pointers that are none. Each line is a case and its
// answer, of a section of its own. memory_calls.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o memory_calls tests/gpu/memory_calls.cu -lcuda &&
//     ./memory_calls >tests/gpu/memory_calls.txt
#include "ask.cuh"

#include <cassert>

namespace copies
{
static char *d, *d2, *m;
static char *h, *pin, *reg;
static cudaStream_t s;
__device__ int sym[4];
__constant__ int csym[4];
static void prep()
{
    Q(cudaMalloc(&d, 4096));
    Q(cudaMalloc(&d2, 4096));
    Q(cudaMallocManaged(&m, 4096));
    h = (char *)calloc(1, 4096);
    Q(cudaMallocHost(&pin, 4096));
    reg = (char *)aligned_alloc(4096, 4096);
    Q(cudaHostRegister(reg, 4096, 0));
    Q(cudaStreamCreate(&s));
}

SECTION(kinds)
{
    prep();
    char *ps[] = {h, pin, reg, m, d};
    const char *ns[] = {"heap", "pinned", "registered", "managed", "device"};
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            for (int kd = -1; kd <= 5; kd++) {
                cudaError_t e = cudaSuccess, e2;
                /* host to host with two heap pointers is defined for each kind that fits; a kind
                 * that does not fit is what we ask */
                char *dst = ps[a], *src = ps[b] + 64;
                e = cudaMemcpy(dst, src, 16, (cudaMemcpyKind)kd);
                cudaGetLastError();
                e2 = cudaMemcpyAsync(dst, src, 16, (cudaMemcpyKind)kd, s);
                cudaGetLastError();
                cudaError_t e3 = cudaStreamSynchronize(s);
                say("%s <- %s kind %d: %s, async %s, sync %s", ns[a], ns[b], kd,
                    cudaGetErrorName(e), cudaGetErrorName(e2), cudaGetErrorName(e3));
                if (e3) return;
            }
}

SECTION(zero_and_null)
{
    prep();
    for (int kd = 0; kd <= 5; kd++) {
        V(kd);
        cudaMemcpyKind k = (cudaMemcpyKind)kd;
        A(cudaMemcpy(NULL, NULL, 0, k));
        A(cudaMemcpy(d, NULL, 0, k));
        A(cudaMemcpy(NULL, d, 4, k));
        A(cudaMemcpy(d, NULL, 4, k));
        A(cudaMemcpyAsync(NULL, d, 4, k, s));
        A(cudaMemcpyAsync(d, h, 0, k, s));
        A(cudaMemcpy2D(NULL, 0, NULL, 0, 0, 0, k));
        A(cudaMemcpy2D(d, 8, h, 8, 0, 4, k));
        A(cudaMemcpy2D(d, 8, h, 8, 4, 0, k));
        A(cudaMemcpy2D(d, 4, h, 4, 8, 0, k));
        A(cudaMemcpy2D(d, 4, h, 8, 8, 2, k));
        A(cudaMemcpy2D(d, 8, h, 4, 8, 2, k));
        A(cudaMemcpy2D(NULL, 8, h, 8, 8, 2, k));
        A(cudaMemcpy2D(d, 8, NULL, 8, 8, 2, k));
        A(cudaMemcpy2D(NULL, 4, NULL, 4, 8, 2, k));
    }
}

SECTION(arrays)
{
    prep();
    cudaChannelFormatDesc c = cudaCreateChannelDesc<int>();
    cudaArray_t a, b;
    Q(cudaMallocArray(&a, &c, 8, 4));
    Q(cudaMallocArray(&b, &c, 8, 4));
    for (int i = 0; i < 4096; i++) h[i] = i;
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 33, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 4, 0, h, 32, 32, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 1, 0, h, 32, 4, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 1, h, 32, 32, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 16, 32, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 6, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 0, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 0, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, NULL, 32, 32, 1, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 1, cudaMemcpyDeviceToHost));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 1, cudaMemcpyDeviceToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, h, 32, 32, 1, cudaMemcpyDefault));
    A(cudaMemcpy2DToArray(a, 0, 0, d, 32, 32, 1, cudaMemcpyDefault));
    A(cudaMemcpy2DToArray(a, 0, 0, d, 32, 32, 1, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DToArray(a, 0, 0, d, 32, 32, 1, cudaMemcpyDeviceToDevice));
    A(cudaMemcpy2DToArray(NULL, 0, 0, h, 32, 32, 1, cudaMemcpyHostToDevice));
    A(cudaMemcpyToArray(a, 0, 0, h, 128, cudaMemcpyHostToDevice));
    A(cudaMemcpyToArray(a, 0, 0, h, 129, cudaMemcpyHostToDevice));
    A(cudaMemcpyToArray(a, 16, 1, h, 40, cudaMemcpyHostToDevice));
    A(cudaMemcpyToArray(a, 2, 1, h, 40, cudaMemcpyHostToDevice));
    A(cudaMemcpyToArray(a, 0, 0, h, 0, cudaMemcpyHostToDevice));
    A(cudaMemcpyFromArray(pin, a, 0, 0, 128, cudaMemcpyDeviceToHost));
    say("%d %d %d %d", pin[0], pin[47], pin[48], pin[88]);
    A(cudaMemcpyFromArray(pin, a, 0, 4, 4, cudaMemcpyDeviceToHost));
    A(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 128));
    A(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 128, cudaMemcpyHostToDevice));
    A(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4));
    A(cudaMemcpy2DArrayToArray(b, 4, 0, a, 0, 0, 32, 4));
    A(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4, cudaMemcpyHostToHost));
    A(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 32, 4, cudaMemcpyDefault));
    A(cudaMemcpy2DFromArray(pin, 32, a, 0, 0, 32, 5, cudaMemcpyDeviceToHost));
    A(cudaMemcpy2DFromArray(pin, 16, a, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
    A(cudaMemcpy2DFromArrayAsync(pin, 32, a, 0, 0, 32, 4, cudaMemcpyHostToDevice, s));
    A(cudaMemcpy2DFromArrayAsync(pin, 32, a, 0, 0, 32, 4, cudaMemcpyDefault, s));
    A(cudaStreamSynchronize(s));
}

SECTION(batch)
{
    prep();
    void *ds[3] = {d, d2, pin};
    const void *ss[3] = {h, d, d2};
    size_t sz[3] = {16, 16, 16};
    cudaMemcpyAttributes at[2] = {};
    size_t ix[2] = {0, 1};
    at[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    at[1].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 2, s));
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 2, 0));
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 0, s));
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, NULL, NULL, 0, s));
    A(cudaMemcpyBatchAsync(ds, ss, sz, 0, at, ix, 1, s));
    ix[0] = 1;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    ix[0] = 0;
    ix[1] = 0;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 2, s));
    ix[1] = 3;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 2, s));
    at[0].srcAccessOrder = (cudaMemcpySrcAccessOrder)0;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    at[0].srcAccessOrder = (cudaMemcpySrcAccessOrder)4;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    at[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    sz[1] = 0;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    sz[1] = 16;
    ds[1] = NULL;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    ds[1] = d2;
    sz[1] = 8192;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    sz[1] = 16;
    at[0].flags = 1;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    at[0].flags = 8;
    A(cudaMemcpyBatchAsync(ds, ss, sz, 3, at, ix, 1, s));
    A(cudaMemcpyBatchAsync(NULL, ss, sz, 3, at, ix, 1, s));
    A(cudaMemcpyBatchAsync(ds, ss, NULL, 3, at, ix, 1, s));
    A(cudaStreamSynchronize(s));
}

} // namespace copies

namespace driver
{
static CUdeviceptr d, d2;
static unsigned char h[4096];
static CUstream s;
static void prep()
{
    Q(cudaFree(0));
    Q(cuMemAlloc(&d, 4096));
    Q(cuMemAlloc(&d2, 4096));
    Q(cuStreamCreate(&s, 0));
    for (int i = 0; i < 4096; i++) h[i] = i;
}

SECTION(copy)
{
    prep();
    D(cuMemcpyHtoD(d, h, 64));
    D(cuMemcpyHtoD(d, NULL, 64));
    D(cuMemcpyHtoD(0, h, 64));
    D(cuMemcpyHtoD(0, NULL, 0));
    D(cuMemcpyHtoD(d, h, 8192));
    D(cuMemcpyDtoH(NULL, d, 4));
    D(cuMemcpyDtoH(h, 0, 4));
    D(cuMemcpyDtoD(d, 0, 4));
    D(cuMemcpyDtoD(d, d2, 4));
    D(cuMemcpyDtoD(d, d + 8, 64));
    D(cuMemcpyDtoD(d, (CUdeviceptr)h, 64));
    D(cuMemcpyDtoH(h, (CUdeviceptr)h, 64));
    D(cuMemcpyHtoD(d, (void *)d2, 64));
    D(cuMemcpyDtoH((void *)d, d2, 64));
    D(cuMemcpy(d, (CUdeviceptr)h, 64));
    D(cuMemcpy((CUdeviceptr)h, d, 64));
    D(cuMemcpy(d, d2, 64));
    D(cuMemcpy(0, 0, 0));
    D(cuMemcpy(0, d, 4));
    D(cuMemcpyAsync(d, d2, 64, s));
    D(cuMemcpyAsync(d, d2, 0, s));
    D(cuMemcpyHtoDAsync(d, h, 8192, s));
    CUcontext c;
    Q(cuCtxGetCurrent(&c));
    D(cuMemcpyPeer(d, c, d2, c, 64));
    D(cuMemcpyPeer(d, NULL, d2, c, 64));
    D(cuMemcpyPeer(d, c, d2, NULL, 64));
    D(cuMemcpyPeerAsync(d, c, d2, c, 64, s));
    D(cuStreamSynchronize(s));
}

SECTION(two_d)
{
    prep();
    CUDA_MEMCPY2D p;
    memset(&p, 0, sizeof p);
    D(cuMemcpy2D(NULL));
    D(cuMemcpy2D(&p));
    p.srcMemoryType = CU_MEMORYTYPE_HOST;
    p.srcHost = h;
    p.srcPitch = 16;
    p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    p.dstDevice = d;
    p.dstPitch = 32;
    p.WidthInBytes = 8;
    p.Height = 4;
    D(cuMemcpy2D(&p));
    p.srcPitch = 0;
    D(cuMemcpy2D(&p));
    p.srcPitch = 4;
    D(cuMemcpy2D(&p));
    p.srcPitch = 16;
    p.dstPitch = 0;
    D(cuMemcpy2D(&p));
    p.Height = 1;
    D(cuMemcpy2D(&p));
    p.Height = 4;
    p.dstPitch = 32;
    p.WidthInBytes = 0;
    D(cuMemcpy2D(&p));
    p.WidthInBytes = 8;
    p.Height = 0;
    D(cuMemcpy2D(&p));
    p.Height = 4;
    p.srcXInBytes = 12;
    D(cuMemcpy2D(&p));
    p.srcXInBytes = 4;
    p.srcY = 1;
    p.dstY = 2;
    D(cuMemcpy2D(&p));
    p.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    p.srcDevice = (CUdeviceptr)h;
    D(cuMemcpy2D(&p));
    p.srcMemoryType = (CUmemorytype)9;
    D(cuMemcpy2D(&p));
    p.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    p.srcArray = NULL;
    D(cuMemcpy2D(&p));
    p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    p.srcDevice = 0;
    D(cuMemcpy2D(&p));
    p.srcDevice = d2;
    p.dstPitch = (size_t)1 << 33;
    D(cuMemcpy2D(&p));
    D(cuMemcpy2DUnaligned(&p));
    p.dstPitch = 32;
    D(cuMemcpy2DUnaligned(&p));
    D(cuMemcpy2DAsync(&p, s));
    p.Height = 4000;
    D(cuMemcpy2D(&p));
    D(cuStreamSynchronize(s));
    CUarray a;
    CUDA_ARRAY_DESCRIPTOR ad = {8, 4, CU_AD_FORMAT_FLOAT, 1};
    Q(cuArrayCreate(&a, &ad));
    memset(&p, 0, sizeof p);
    p.srcMemoryType = CU_MEMORYTYPE_HOST;
    p.srcHost = h;
    p.srcPitch = 32;
    p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    p.dstArray = a;
    p.WidthInBytes = 32;
    p.Height = 4;
    D(cuMemcpy2D(&p));
    p.WidthInBytes = 30;
    D(cuMemcpy2D(&p));
    p.WidthInBytes = 36;
    D(cuMemcpy2D(&p));
    p.WidthInBytes = 32;
    p.Height = 5;
    D(cuMemcpy2D(&p));
    p.Height = 1;
    p.dstXInBytes = 4;
    D(cuMemcpy2D(&p));
    p.dstXInBytes = 2;
    p.WidthInBytes = 4;
    D(cuMemcpy2D(&p));
    p.dstXInBytes = 0;
    p.dstY = 4;
    D(cuMemcpy2D(&p));
    D(cuMemcpyHtoA(a, 0, h, 32));
    D(cuMemcpyHtoA(a, 0, h, 33));
    D(cuMemcpyHtoA(a, 4, h, 32));
    D(cuMemcpyHtoA(a, 2, h, 4));
    D(cuMemcpyHtoA(NULL, 0, h, 4));
    D(cuMemcpyAtoH(h, a, 0, 32));
    D(cuMemcpyAtoD(d, a, 0, 32));
    D(cuMemcpyDtoA(a, 0, d, 32));
    D(cuMemcpyAtoA(a, 0, a, 16, 16));
    D(cuMemcpyAtoA(a, 0, a, 16, 32));
    D(cuMemcpyHtoA(a, 0, h, 0));
    D(cuMemcpyAtoHAsync(h, a, 0, 32, s));
    D(cuStreamSynchronize(s));
}

SECTION(three_d)
{
    prep();
    CUDA_MEMCPY3D p;
    memset(&p, 0, sizeof p);
    D(cuMemcpy3D(NULL));
    p.srcMemoryType = CU_MEMORYTYPE_HOST;
    p.srcHost = h;
    p.srcPitch = 16;
    p.srcHeight = 4;
    p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    p.dstDevice = d;
    p.dstPitch = 16;
    p.dstHeight = 4;
    p.WidthInBytes = 8;
    p.Height = 2;
    p.Depth = 2;
    D(cuMemcpy3D(&p));
    p.srcHeight = 0;
    D(cuMemcpy3D(&p));
    p.srcHeight = 1;
    D(cuMemcpy3D(&p));
    p.srcHeight = 4;
    p.dstPitch = 4;
    D(cuMemcpy3D(&p));
    p.dstPitch = 16;
    p.Depth = 0;
    D(cuMemcpy3D(&p));
    p.Depth = 1;
    p.srcLOD = 1;
    D(cuMemcpy3D(&p));
    p.srcLOD = 0;
    p.reserved0 = &p;
    D(cuMemcpy3D(&p));
    p.reserved0 = NULL;
    p.srcZ = 1;
    D(cuMemcpy3D(&p));
    D(cuMemcpy3DAsync(&p, s));
    CUDA_MEMCPY3D_PEER q;
    memset(&q, 0, sizeof q);
    CUcontext c;
    Q(cuCtxGetCurrent(&c));
    q.srcMemoryType = q.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    q.srcDevice = d;
    q.dstDevice = d2;
    q.srcPitch = q.dstPitch = 16;
    q.srcHeight = q.dstHeight = 4;
    q.WidthInBytes = 8;
    q.Height = 2;
    q.Depth = 1;
    q.srcContext = q.dstContext = c;
    D(cuMemcpy3DPeer(&q));
    q.srcContext = NULL;
    D(cuMemcpy3DPeer(&q));
    D(cuMemcpy3DPeerAsync(&q, s));
    D(cuStreamSynchronize(s));
}

SECTION(fill)
{
    prep();
    D(cuMemsetD8(d, 1, 16));
    D(cuMemsetD16(d, 1, 16));
    D(cuMemsetD16(d + 1, 1, 16));
    D(cuMemsetD32(d + 2, 1, 16));
    D(cuMemsetD32(d, 1, 0));
    D(cuMemsetD32(0, 1, 0));
    D(cuMemsetD32(0, 1, 1));
    D(cuMemsetD32(d, 1, 1025));
    D(cuMemsetD32(d + 1, 1, 0));
    D(cuMemsetD2D8(d, 16, 3, 8, 4));
    D(cuMemsetD2D8(d, 4, 3, 8, 4));
    D(cuMemsetD2D8(d, 4, 3, 8, 1));
    D(cuMemsetD2D8(d, 0, 3, 8, 1));
    D(cuMemsetD2D8(d, 16, 3, 0, 4));
    D(cuMemsetD2D8(d, 16, 3, 8, 0));
    D(cuMemsetD2D16(d, 15, 3, 4, 2));
    D(cuMemsetD2D16(d, 16, 3, 4, 2));
    D(cuMemsetD2D32(d, 18, 3, 4, 2));
    D(cuMemsetD2D32(d, 16, 3, 4, 2));
    D(cuMemsetD2D32(d, 12, 3, 4, 2));
    D(cuMemsetD2D32(d + 2, 16, 3, 4, 2));
    D(cuMemsetD2D8(d, 16, 3, 8, 4000));
    D(cuMemsetD8((CUdeviceptr)h, 3, 8));
    D(cuMemsetD8Async(d, 3, 8, s));
    D(cuMemsetD2D32Async(d, 64, 0x01020304, 2, 2, s));
    D(cuStreamSynchronize(s));
    Q(cuMemcpyDtoH(h, d, 128));
    V(h[0]);
    V(h[3]);
    V(h[64]);
    V(h[8]);
}

} // namespace driver
