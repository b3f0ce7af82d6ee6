// Pools of memory, asked of a GPU: which properties they may have, what of them may be set and what
// is then read, how much of them is in use, who may reach their memory, what is freed in a stream;
// the flags of page-locked memory; and what 0 bytes are. Each line is a case and its answer. A line
// that begins with ~ is of small allocations that an H200 makes beside others. pools.txt has an
// H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o pools tests/gpu/pools.cu -lcuda
//     ./pools > tests/gpu/pools.txt
#include "gpu.cuh"

static cudaStream_t stream;
static cudaMemPool_t pool;

static cudaMemPoolProps plain()
{
    cudaMemPoolProps of = {};
    of.allocType = cudaMemAllocationTypePinned;
    of.location.type = cudaMemLocationTypeDevice;
    return of;
}

static void make(const char *name, const cudaMemPoolProps &of)
{
    cudaMemPool_t made = nullptr;
    const cudaError_t error = cudaMemPoolCreate(&made, &of);
    say(name, error);
    if (error == cudaSuccess) CHECK(cudaMemPoolDestroy(made));
}

static void properties()
{
    cudaMemPoolProps of = plain();
    for (int kinds : {0, 1, 2, 3, 4, 64}) {
        of.handleTypes = (cudaMemAllocationHandleType)kinds;
        printf("shared in ways %d, ", kinds);
        make("pool", of);
    }
    of = plain();
    of.reserved[5] = 1;
    make("reserved bytes set", of);
    of = plain();
    of.usage = 0x100;
    make("unknown use", of);
    of.usage = cudaMemPoolCreateUsageHwDecompress;
    make("decompression", of);
    of = plain();
    of.location.type = cudaMemLocationTypeNone;
    make("nowhere", of);
    of = plain();
    of.win32SecurityAttributes = &of;
    make("security attributes", of);
}

static void switches()
{
    for (int attribute = 1; attribute <= 3; attribute++) {
        for (int value : {0, 5, -1, 256}) {
            int is = -9;
            say("set", cudaMemPoolSetAttribute(pool, (cudaMemPoolAttr)attribute, &value));
            CHECK(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)attribute, &is));
            printf("attribute %d, %d is then %d\n", attribute, value, is);
        }
    }
}

static void usage(const char *name)
{
    unsigned long long now, most;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &now));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    printf("%s: %llu in use, %llu at most\n", name, now, most);
}

static void in_use()
{
    void *a, *b, *c;
    CHECK(cudaMallocFromPoolAsync(&a, 1000, pool, stream));
    CHECK(cudaMallocFromPoolAsync(&b, 5000, pool, stream));
    CHECK(cudaMallocFromPoolAsync(&c, 7000, pool, stream));
    usage("three");
    CHECK(cudaFreeAsync(a, stream));
    usage("one freed, not waited for");
    CHECK(cudaStreamSynchronize(stream));
    usage("one freed");
    CHECK(cudaFreeAsync(b, stream));
    CHECK(cudaFreeAsync(c, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static void access()
{
    cudaMemAccessDesc to = {};
    to.location.type = cudaMemLocationTypeDevice;
    for (int flags : {0, 1, 2, 3, 9}) {
        to.flags = (cudaMemAccessFlags)flags;
        printf("access %d, ", flags);
        say("own device", cudaMemPoolSetAccess(pool, &to, 1));
    }
    to.flags = cudaMemAccessFlagsProtReadWrite;
    to.location.id = 99;
    say("access, device 99", cudaMemPoolSetAccess(pool, &to, 1));
    say("access of nobody", cudaMemPoolSetAccess(pool, &to, 0));
    say("access of nobody from nowhere", cuMemPoolSetAccess(pool, nullptr, 0));
    say("runtime: current pool of device 99", cudaDeviceSetMemPool(99, pool));
    say("current pool of device 99", cuDeviceSetMemPool(99, pool));
}

static void pointers()
{
    void *a, *pinned, *managed;
    CUcontext context = (CUcontext)1;
    CUmemoryPool of = nullptr;
    CUmemPoolPtrExportData exported;
    int file = -1;
    CHECK(cudaMallocFromPoolAsync(&a, 1000, pool, stream));
    CHECK(cudaStreamSynchronize(stream));
    const CUdeviceptr p = (CUdeviceptr)a;
    say("context", cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    say("pool", cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    printf("no context: %d, this pool: %d\n", context == nullptr, of == pool);
    say("a pointer for others", cuMemPoolExportPointer(&exported, p));
    say("a pool for others",
        cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cudaMallocHost(&pinned, 64));
    CHECK(cudaMallocManaged(&managed, 64));
    say("free pinned memory in a stream", cudaFreeAsync(pinned, stream));
    say("free managed memory in a stream", cudaFreeAsync(managed, stream));
    say("the same from inside", cudaFreeAsync((char *)managed + 8, stream));
    CHECK(cudaFree(managed));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static void flags()
{
    void *p;
    unsigned kept;
    for (unsigned kind : {0, 1, 2, 7}) {
        CHECK(cudaHostAlloc(&p, 4096, kind));
        CHECK(cudaHostGetFlags(&kept, p));
        printf("runtime: %u is then %u\n", kind, kept);
        CHECK(cudaFreeHost(p));
    }
    for (size_t size : {64, 4 << 20}) { // beside memory with other flags
        void *beside, *large;
        CHECK(cudaHostAlloc(&beside, size, 0));
        CHECK(cudaHostAlloc(&p, size, 1));
        CHECK(cudaHostAlloc(&large, 8 << 20, 1));
        CHECK(cudaHostGetFlags(&kept, p));
        printf("~portable beside: %u\n", kept);
        CHECK(cudaHostGetFlags(&kept, large));
        printf("large beside: %u\n", kept);
        CHECK(cudaFreeHost(beside));
        CHECK(cudaMallocHost(&beside, size));
        CHECK(cudaHostGetFlags(&kept, beside));
        printf("beside portable: %u\n", kept);
        CHECK(cudaFreeHost(beside));
        CHECK(cudaFreeHost(p));
        CHECK(cudaFreeHost(large));
    }
    for (unsigned kind = 0; kind < 8; kind++) {
        if (cuMemHostAlloc(&p, 100, kind) != CUDA_SUCCESS) exit(1);
        say("flags", cuMemHostGetFlags(&kept, p));
        printf("%u is then %u\n", kind, kept);
        cuMemFreeHost(p);
    }
    static char memory[8192] __attribute__((aligned(4096)));
    for (unsigned kind : {0, 3}) {
        CHECK(cudaHostRegister(memory, 8192, kind));
        CHECK(cudaHostGetFlags(&kept, memory));
        printf("registered: %u is then %u\n", kind, kept);
        CHECK(cudaHostUnregister(memory));
    }
}

static void ask_nothing(const char *name, cudaError_t (*of)(void **))
{
    void *p = &pool; /* of what is not written this is left */
    const cudaError_t error = of(&p);
    printf("0 bytes, address %d, ", p == nullptr ? 0 : 1);
    say(name, error);
}

static void ask_nothing(const char *name, CUresult (*of)(CUdeviceptr *))
{
    CUdeviceptr p = 5;
    const CUresult code = of(&p);
    printf("0 bytes, address %d, ", p == 0 ? 0 : 1);
    say(name, code);
}

static void nothing()
{
    ask_nothing("cuMemAlloc", [](CUdeviceptr *p) { return cuMemAlloc(p, 0); });
    ask_nothing("cuMemAllocManaged",
                [](CUdeviceptr *p) { return cuMemAllocManaged(p, 0, CU_MEM_ATTACH_GLOBAL); });
    ask_nothing("cuMemAllocAsync", [](CUdeviceptr *p) { return cuMemAllocAsync(p, 0, stream); });
    ask_nothing("cuMemAllocFromPoolAsync", [](CUdeviceptr *p) {
        return cuMemAllocFromPoolAsync(p, 0, (CUmemoryPool)pool, stream);
    });
    ask_nothing("cudaMalloc", [](void **p) { return cudaMalloc(p, 0); });
    ask_nothing("cudaMallocAsync", [](void **p) { return cudaMallocAsync(p, 0, stream); });
    ask_nothing("cudaMallocManaged", [](void **p) { return cudaMallocManaged(p, 0); });
    ask_nothing("cudaMallocHost", [](void **p) { return cudaMallocHost(p, 0); });
    say("freed in the stream, 0", cuMemFreeAsync(0, stream));
}

int main()
{
    const cudaMemPoolProps of = plain();
    CHECK(cudaStreamCreate(&stream));
    properties();
    CHECK(cudaMemPoolCreate(&pool, &of));
    switches();
    in_use();
    access();
    pointers();
    flags();
    nothing();
    CHECK(cudaMemPoolDestroy(pool));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
