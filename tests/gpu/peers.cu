// Two devices, asked of two H200s: who is whose peer, what a kernel may touch on the other device,
// and which calls take the other device's memory, streams, events, pools and functions. Each line
// is a case and its answer, of a section of its own. What waits is asked by peer_waits.cu.
//
//     nvcc -std=c++17 -arch=sm_90 -o peers tests/gpu/peers.cu -lcuda && ./peers
//     >tests/gpu/peers.txt
#include "ask.cuh"

__device__ int variable = 7;
__managed__ int managed = 9;

__global__ void read_one(const int *from, int *to)
{
    *to = *from;
}

__global__ void write_one(int *to, int value)
{
    *to = value;
}

__global__ void add_many(int *to)
{
    atomicAdd_system(to, 1);
}

__global__ void await_one(int *at)
{
    while (atomicAdd_system(at, 0) == 0) {
    }
    at[1] = 99;
}

__global__ void tell_variable(int *to)
{
    *to = variable;
}

// Memory of a device, with a value in its first word.
static int *word_of(int device, int value)
{
    int *p = NULL, before = 0;
    Q(cudaGetDevice(&before));
    Q(cudaSetDevice(device));
    Q(cudaMalloc(&p, 1 << 20));
    Q(cudaMemcpy(p, &value, sizeof value, cudaMemcpyHostToDevice));
    Q(cudaDeviceSynchronize());
    Q(cudaSetDevice(before));
    return p;
}

static void show(const char *what, const int *p)
{
    int value = -1;
    answer(what, cudaMemcpy(&value, p, sizeof value, cudaMemcpyDefault));
    VL("  value", value);
}

// What a kernel of the current device reads at `from`.
static void reads(const char *what, const int *from)
{
    int *to = NULL, value = -1;
    Q(cudaMalloc(&to, sizeof *to));
    read_one<<<1, 1>>>(from, to);
    AL(what, cudaDeviceSynchronize());
    if (cudaMemcpy(&value, to, sizeof value, cudaMemcpyDefault) == cudaSuccess)
        VL("  value", value);
    cudaGetLastError();
}

static void writes(const char *what, int *to)
{
    write_one<<<1, 1>>>(to, 11);
    AL(what, cudaDeviceSynchronize());
}

static CUcontext primary_of(int device)
{
    CUcontext context = NULL;
    Q(cuDevicePrimaryCtxRetain(&context, device));
    return context;
}

static const char *which(CUcontext context, CUcontext zero, CUcontext one)
{
    return context == zero ? "of device 0" : context == one ? "of device 1" : "another";
}

// ---- who is a peer ----------------------------------------------------------------------------

SECTION(can)
{
    int can = -1;
    A(cudaDeviceCanAccessPeer(&can, 0, 1));
    V(can);
    A(cudaDeviceCanAccessPeer(&can, 1, 0));
    V(can);
    A(cudaDeviceCanAccessPeer(&can, 0, 0));
    V(can);
    can = -1;
    A(cudaDeviceCanAccessPeer(&can, 0, 2));
    V(can);
    A(cudaDeviceCanAccessPeer(&can, -1, 0));
    V(can);
    A(cudaDeviceCanAccessPeer(NULL, 0, 1));
    Q(cuInit(0));
    D(cuDeviceCanAccessPeer(&can, 1, 0));
    V(can);
    D(cuDeviceCanAccessPeer(&can, 1, 1));
    V(can);
    D(cuDeviceCanAccessPeer(&can, 1, 2));
    D(cuDeviceCanAccessPeer(NULL, 0, 1));
}

SECTION(attributes)
{
    Q(cuInit(0));
    for (int k = -1; k < 9; k++) {
        int value = -1;
        CUresult code = cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)k, 0, 1);
        say("cuDeviceGetP2PAttribute %d: %s %d", k, name_of(code), value);
        value = -1;
        cudaError_t error = cudaDeviceGetP2PAttribute(&value, (cudaDeviceP2PAttr)k, 1, 0);
        say("cudaDeviceGetP2PAttribute %d: %s %d", k, cudaGetErrorName(error), value);
        cudaGetLastError();
    }
    int value = -1;
    A(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    A(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 2));
    A(cudaDeviceGetP2PAttribute(NULL, cudaDevP2PAttrAccessSupported, 0, 1));
    D(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 2));
}

SECTION(enable)
{
    Q(cudaSetDevice(0));
    A(cudaDeviceDisablePeerAccess(1));
    A(cudaDeviceEnablePeerAccess(1, 1));
    A(cudaDeviceEnablePeerAccess(0, 0));
    A(cudaDeviceEnablePeerAccess(2, 0));
    A(cudaDeviceEnablePeerAccess(-1, 0));
    A(cudaDeviceEnablePeerAccess(1, 0));
    A(cudaDeviceEnablePeerAccess(1, 0));
    Q(cudaSetDevice(1));
    A(cudaDeviceDisablePeerAccess(0));
    A(cudaDeviceEnablePeerAccess(0, 0));
    Q(cudaSetDevice(0));
    A(cudaDeviceDisablePeerAccess(1));
    A(cudaDeviceDisablePeerAccess(1));
    A(cudaDeviceDisablePeerAccess(0));
    A(cudaDeviceDisablePeerAccess(2));
    A(cudaDeviceEnablePeerAccess(1, 0));
}

SECTION(contexts)
{
    CUcontext zero, one, more;
    Q(cuInit(0));
    zero = primary_of(0);
    one = primary_of(1);
    D(cuCtxEnablePeerAccess(one, 0));
    Q(cuCtxSetCurrent(zero));
    D(cuCtxEnablePeerAccess(NULL, 0));
    D(cuCtxEnablePeerAccess(zero, 0));
    D(cuCtxEnablePeerAccess(one, 1));
    D(cuCtxDisablePeerAccess(one));
    D(cuCtxEnablePeerAccess(one, 0));
    D(cuCtxEnablePeerAccess(one, 0));
    Q(cuCtxCreate(&more, NULL, 0, 1));
    Q(cuCtxSetCurrent(zero));
    D(cuCtxDisablePeerAccess(more));
    D(cuCtxEnablePeerAccess(more, 0));
    D(cuCtxEnablePeerAccess(more, 0));
    D(cuCtxDisablePeerAccess(one));
    D(cuCtxDisablePeerAccess(one));
    D(cuCtxDisablePeerAccess(more));
    Q(cuCtxCreate(&more, NULL, 0, 0));
    Q(cuCtxSetCurrent(zero));
    D(cuCtxEnablePeerAccess(more, 0));
    D(cuCtxDisablePeerAccess(more));
    Q(cuCtxDestroy(more));
    D(cuCtxEnablePeerAccess(more, 0));
}

SECTION(resets)
{
    Q(cudaSetDevice(0));
    Q(cudaDeviceEnablePeerAccess(1, 0));
    Q(cudaSetDevice(1));
    A(cudaDeviceReset());
    Q(cudaSetDevice(0));
    A(cudaDeviceEnablePeerAccess(1, 0));
    A(cudaDeviceDisablePeerAccess(1));
    Q(cudaSetDevice(1));
    A(cudaDeviceEnablePeerAccess(0, 0));
    A(cudaDeviceReset());
    A(cudaDeviceEnablePeerAccess(0, 0));
}

// ---- what a kernel may touch ------------------------------------------------------------------

SECTION(reads_refused)
{
    const int *there = word_of(1, 5);
    Q(cudaSetDevice(0));
    reads("a kernel reads the other device", there);
    A(cudaFree(0));
    Q(cudaSetDevice(1));
    A(cudaFree(0));
    A(cudaDeviceSynchronize());
}

SECTION(writes_refused)
{
    int *there = word_of(1, 5);
    Q(cudaSetDevice(0));
    writes("a kernel writes the other device", there);
    A(cudaSetDevice(1));
    int value = -1;
    A(cudaMemcpy(&value, there, 4, cudaMemcpyDeviceToHost));
}

SECTION(the_other_way)
{
    const int *there = word_of(1, 5);
    Q(cudaSetDevice(1));
    A(cudaDeviceEnablePeerAccess(0, 0));
    Q(cudaSetDevice(0));
    reads("device 1 may access 0, a kernel of 0 reads 1", there);
}

SECTION(reads_enabled)
{
    int *there = word_of(1, 5);
    Q(cudaSetDevice(0));
    A(cudaDeviceEnablePeerAccess(1, 0));
    reads("memory from before", there);
    writes("memory from before", there);
    show("written", there);
    reads("memory from behind", word_of(1, 6));
    A(cudaDeviceDisablePeerAccess(1));
    reads("no longer", there);
}

SECTION(sums)
{
    int *there = word_of(1, 0);
    Q(cudaSetDevice(0));
    Q(cudaDeviceEnablePeerAccess(1, 0));
    add_many<<<64, 128>>>(there);
    A(cudaGetLastError());
    Q(cudaSetDevice(1));
    add_many<<<64, 128>>>(there);
    A(cudaDeviceSynchronize());
    Q(cudaSetDevice(0));
    A(cudaDeviceSynchronize());
    show("sum", there);
}

// A kernel waits for what a kernel of the other device tells it.
SECTION(conversation)
{
    int *zero = word_of(0, 0);
    Q(cudaSetDevice(0));
    await_one<<<1, 1>>>(zero);
    A(cudaGetLastError());
    Q(cudaSetDevice(1));
    Q(cudaDeviceEnablePeerAccess(0, 0));
    add_many<<<1, 1>>>(zero);
    A(cudaDeviceSynchronize());
    Q(cudaSetDevice(0));
    A(cudaDeviceSynchronize());
    show("answered", zero + 1);
}

SECTION(host_memory)
{
    int *pinned = NULL, *seen = NULL, *own = (int *)malloc(4096);
    Q(cudaSetDevice(0));
    Q(cudaMallocHost(&pinned, 4096));
    *pinned = 3;
    *own = 4;
    Q(cudaHostRegister(own, 4096, cudaHostRegisterMapped));
    Q(cudaSetDevice(1));
    reads("page-locked under device 0", pinned);
    reads("registered under device 0", own);
    A(cudaHostGetDevicePointer((void **)&seen, pinned, 0));
    V(seen == pinned);
    A(cudaHostUnregister(own));
    A(cudaFreeHost(pinned));
}

SECTION(managed_memory)
{
    int *p = NULL;
    Q(cudaSetDevice(0));
    Q(cudaMallocManaged(&p, 4096));
    *p = 21;
    Q(cudaSetDevice(1));
    reads("managed under device 0", p);
    writes("managed under device 0", p);
    V(*p);
    reads("a managed variable", &managed);
}

SECTION(variables)
{
    int *zero = NULL, *one = NULL, *to = NULL, value = 100;
    Q(cudaSetDevice(0));
    Q(cudaGetSymbolAddress((void **)&zero, variable));
    Q(cudaMemcpyToSymbol(variable, &value, sizeof value));
    Q(cudaSetDevice(1));
    Q(cudaGetSymbolAddress((void **)&one, variable));
    V(zero == one);
    Q(cudaMalloc(&to, 4));
    tell_variable<<<1, 1>>>(to);
    show("of device 1", to);
    A(cudaMemcpy(one, zero, 4, cudaMemcpyDeviceToDevice));
    tell_variable<<<1, 1>>>(to);
    show("of device 1, copied", to);
}

SECTION(variables_of_peers)
{
    int *zero = NULL;
    Q(cudaSetDevice(0));
    Q(cudaGetSymbolAddress((void **)&zero, variable));
    Q(cudaSetDevice(1));
    A(cudaDeviceEnablePeerAccess(0, 0));
    A(cudaMemset(zero, 0, 4));
    reads("a kernel of 1 reads the variable of 0", zero);
}

// ---- copies and fills -------------------------------------------------------------------------

SECTION(copies)
{
    int *zero = word_of(0, 1), *one = word_of(1, 2), value = 77;
    Q(cudaSetDevice(0));
    A(cudaMemcpy(one, &value, 4, cudaMemcpyHostToDevice));
    show("of 1", one);
    A(cudaMemcpy(zero, one, 4, cudaMemcpyDeviceToDevice));
    show("0 from 1", zero);
    A(cudaMemcpy(zero, one, 4, cudaMemcpyDefault));
    A(cudaMemcpyPeer(zero, 0, one, 1, 4));
    A(cudaMemcpyPeer(zero, 1, one, 0, 4));
    A(cudaMemcpyPeer(zero, 0, one, 2, 4));
    A(cudaMemcpyPeer(zero, -1, one, 1, 4));
    A(cudaMemcpyPeer(zero, 0, &value, 1, 4));
    A(cudaMemcpyPeer(zero, 0, one, 1, 2 << 20));
    A(cudaMemcpyPeer(zero, 0, one, 1, 0));
    A(cudaMemcpy2D(zero, 64, one, 128, 32, 4, cudaMemcpyDeviceToDevice));
    A(cudaMemcpyAsync(zero, one, 4, cudaMemcpyDeviceToDevice, 0));
    A(cudaMemcpyToSymbol(variable, one, 4, 0, cudaMemcpyDeviceToDevice));
    A(cudaDeviceSynchronize());
    CUcontext a = primary_of(0), b = primary_of(1);
    D(cuMemcpyDtoD((CUdeviceptr)zero, (CUdeviceptr)one, 4));
    D(cuMemcpyPeer((CUdeviceptr)zero, a, (CUdeviceptr)one, b, 4));
    D(cuMemcpyPeer((CUdeviceptr)zero, b, (CUdeviceptr)one, a, 4));
    D(cuMemcpyPeer((CUdeviceptr)zero, NULL, (CUdeviceptr)one, b, 4));
}

SECTION(fills)
{
    int *one = word_of(1, 2);
    cudaStream_t of_zero, of_one;
    Q(cudaSetDevice(1));
    Q(cudaStreamCreate(&of_one));
    Q(cudaSetDevice(0));
    Q(cudaStreamCreate(&of_zero));
    A(cudaMemset(one, 1, 4));
    show("of 1", one);
    A(cudaMemsetAsync(one, 2, 4, of_zero));
    A(cudaStreamSynchronize(of_zero));
    show("of 1", one);
    A(cudaMemsetAsync(one, 3, 4, of_one));
    A(cudaStreamSynchronize(of_one));
    show("of 1", one);
    A(cudaMemset2D(one, 64, 4, 32, 4));
    D(cuMemsetD32((CUdeviceptr)one, 5, 4));
    Q(cudaDeviceEnablePeerAccess(1, 0));
    A(cudaMemset(one, 6, 4));
    show("of a peer", one);
}

SECTION(streams_for_copies)
{
    int *zero = word_of(0, 1), *one = word_of(1, 2), *pinned = NULL;
    cudaStream_t of_zero, of_one;
    Q(cudaSetDevice(1));
    Q(cudaStreamCreate(&of_one));
    Q(cudaSetDevice(0));
    Q(cudaStreamCreate(&of_zero));
    Q(cudaMallocHost(&pinned, 4));
    *pinned = 8;
    A(cudaMemcpyAsync(zero, pinned, 4, cudaMemcpyHostToDevice, of_one));
    A(cudaMemcpyAsync(one, pinned, 4, cudaMemcpyHostToDevice, of_zero));
    A(cudaMemcpyAsync(one, zero, 4, cudaMemcpyDeviceToDevice, of_one));
    A(cudaMemcpyPeerAsync(one, 1, zero, 0, 4, of_zero));
    A(cudaMemcpyPeerAsync(one, 1, zero, 0, 4, of_one));
    A(cudaStreamSynchronize(of_zero));
    A(cudaStreamSynchronize(of_one));
    show("of 1", one);
}

SECTION(frees)
{
    int *one = word_of(1, 2), *other = word_of(1, 3);
    cudaStream_t of_zero;
    Q(cudaSetDevice(0));
    Q(cudaStreamCreate(&of_zero));
    A(cudaFree(one));
    A(cudaFreeAsync(other, of_zero));
    A(cudaStreamSynchronize(of_zero));
    D(cuMemFree((CUdeviceptr)word_of(1, 4)));
    size_t size = 0;
    CUdeviceptr base = 0;
    one = word_of(1, 2);
    D(cuMemGetAddressRange(&base, &size, (CUdeviceptr)one));
    V(base == (CUdeviceptr)one);
    V(size);
}

// ---- streams, events --------------------------------------------------------------------------

SECTION(streams)
{
    cudaStream_t one;
    int *there = word_of(1, 1), device = -1, priority = 0;
    unsigned flags = 0;
    unsigned long long id = 0;
    Q(cudaSetDevice(1));
    Q(cudaStreamCreate(&one));
    Q(cudaSetDevice(0));
    write_one<<<1, 1, 0, one>>>(there, 5);
    AL("a launch in a stream of the other device", cudaGetLastError());
    A(cudaStreamSynchronize(one));
    show("written", there);
    A(cudaStreamQuery(one));
    A(cudaStreamGetDevice(one, &device));
    V(device);
    A(cudaStreamGetFlags(one, &flags));
    A(cudaStreamGetPriority(one, &priority));
    A(cudaStreamGetId(one, &id));
    A(cudaLaunchHostFunc(
        one, [](void *) {}, NULL));
    A(cudaStreamAddCallback(
        one, [](cudaStream_t, cudaError_t, void *) {}, NULL, 0));
    A(cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed));
    cudaGraph_t graph = NULL;
    write_one<<<1, 1, 0, one>>>(there, 6);
    AL("a captured launch", cudaGetLastError());
    A(cudaStreamEndCapture(one, &graph));
    int value = 7;
    void *arguments[] = {&there, &value};
    A(cudaLaunchKernel((const void *)write_one, 1, 1, arguments, 0, one));
    A(cudaLaunchCooperativeKernel((const void *)write_one, 1, 1, arguments, 0, one));
    A(cudaStreamSynchronize(one));
    A(cudaStreamDestroy(one));
    A(cudaStreamGetDevice(0, &device));
    V(device);
}

// The kernel runs on the stream's device, which may not access the current one's memory.
SECTION(streams_and_memory)
{
    cudaStream_t one;
    int *zero = word_of(0, 1);
    Q(cudaSetDevice(1));
    Q(cudaStreamCreate(&one));
    Q(cudaSetDevice(0));
    write_one<<<1, 1, 0, one>>>(zero, 5);
    AL("a launch in a stream of the other device", cudaGetLastError());
    A(cudaStreamSynchronize(one));
}

SECTION(events)
{
    cudaStream_t zero, one;
    cudaEvent_t of_zero, of_one, plain;
    float ms;
    Q(cudaSetDevice(1));
    Q(cudaStreamCreate(&one));
    Q(cudaEventCreate(&of_one));
    Q(cudaSetDevice(0));
    Q(cudaStreamCreate(&zero));
    Q(cudaEventCreate(&of_zero));
    Q(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    A(cudaEventRecord(of_zero, one));
    A(cudaEventRecord(of_one, zero));
    A(cudaEventRecord(of_one, 0));
    A(cudaEventRecord(plain, one));
    A(cudaEventRecord(of_one, one));
    A(cudaEventRecord(of_zero, zero));
    A(cudaStreamWaitEvent(zero, of_one, 0));
    A(cudaStreamWaitEvent(one, of_zero, 0));
    A(cudaStreamWaitEvent(0, of_one, 0));
    A(cudaEventSynchronize(of_one));
    A(cudaEventSynchronize(of_zero));
    A(cudaEventElapsedTime(&ms, of_zero, of_one));
    A(cudaEventElapsedTime(&ms, of_one, of_one));
    A(cudaEventDestroy(of_one));
    A(cudaStreamDestroy(one));
}

SECTION(captured)
{
    cudaStream_t zero, one;
    cudaEvent_t fork, join;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int *a = word_of(0, 1), *b = word_of(1, 2);
    size_t nodes = 0;
    Q(cudaSetDevice(1));
    Q(cudaStreamCreate(&one));
    Q(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    Q(cudaSetDevice(0));
    Q(cudaStreamCreate(&zero));
    Q(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    Q(cudaStreamBeginCapture(zero, cudaStreamCaptureModeGlobal));
    write_one<<<1, 1, 0, zero>>>(a, 31);
    A(cudaEventRecord(fork, zero));
    A(cudaSetDevice(1));
    A(cudaStreamWaitEvent(one, fork, 0));
    write_one<<<1, 1, 0, one>>>(b, 32);
    AL("captured on 1", cudaGetLastError());
    A(cudaEventRecord(join, one));
    A(cudaSetDevice(0));
    A(cudaStreamWaitEvent(zero, join, 0));
    A(cudaStreamEndCapture(zero, &graph));
    A(cudaGraphGetNodes(graph, NULL, &nodes));
    V(nodes);
    A(cudaGraphInstantiate(&exec, graph, 0));
    A(cudaGraphLaunch(exec, zero));
    A(cudaStreamSynchronize(zero));
    show("of 0", a);
    show("of 1", b);
    A(cudaGraphLaunch(exec, one));
    A(cudaStreamSynchronize(one));
    A(cudaSetDevice(1));
    A(cudaGraphLaunch(exec, one));
    A(cudaStreamSynchronize(one));
}

// ---- pools, mapped memory ---------------------------------------------------------------------

static cudaMemAccessDesc access_for(int device, cudaMemAccessFlags flags)
{
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device;
    access.flags = flags;
    return access;
}

static void tells_access(const char *what, cudaMemPool_t pool, int device)
{
    cudaMemLocation place = {};
    cudaMemAccessFlags flags = (cudaMemAccessFlags)-1;
    place.type = cudaMemLocationTypeDevice;
    place.id = device;
    AL(what, cudaMemPoolGetAccess(&flags, pool, &place));
    VL("  flags", flags);
}

SECTION(pools)
{
    cudaMemPool_t pool;
    int *p = NULL, value = 41;
    Q(cudaSetDevice(0));
    Q(cudaDeviceGetDefaultMemPool(&pool, 0));
    Q(cudaMallocAsync(&p, 4, 0));
    Q(cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice));
    Q(cudaDeviceSynchronize());
    tells_access("of 0", pool, 0);
    tells_access("of 1", pool, 1);
    tells_access("of 2", pool, 2);
    cudaMemAccessDesc access = access_for(1, cudaMemAccessFlagsProtRead);
    A(cudaMemPoolSetAccess(pool, &access, 1));
    access = access_for(1, cudaMemAccessFlagsProtNone);
    A(cudaMemPoolSetAccess(pool, &access, 1));
    access = access_for(0, cudaMemAccessFlagsProtNone);
    A(cudaMemPoolSetAccess(pool, &access, 1));
    access = access_for(2, cudaMemAccessFlagsProtReadWrite);
    A(cudaMemPoolSetAccess(pool, &access, 1));
    access = access_for(1, cudaMemAccessFlagsProtReadWrite);
    A(cudaMemPoolSetAccess(pool, &access, 1));
    tells_access("of 1", pool, 1);
    Q(cudaSetDevice(1));
    reads("a kernel of 1 reads the pool of 0", p);
    A(cudaDeviceSetMemPool(1, pool));
    access = access_for(1, cudaMemAccessFlagsProtNone);
    A(cudaMemPoolSetAccess(pool, &access, 1));
    tells_access("of 1", pool, 1);
    reads("no longer", p);
}

SECTION(pools_of_peers)
{
    int *p = NULL, value = 41;
    Q(cudaSetDevice(0));
    Q(cudaMallocAsync(&p, 4, 0));
    Q(cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice));
    Q(cudaDeviceSynchronize());
    Q(cudaSetDevice(1));
    A(cudaDeviceEnablePeerAccess(0, 0));
    reads("enabled, without access to the pool", p);
}

SECTION(pools_and_streams)
{
    cudaMemPool_t pool;
    cudaStream_t one;
    cudaPointerAttributes attributes;
    int *p = NULL;
    Q(cudaSetDevice(1));
    Q(cudaStreamCreate(&one));
    Q(cudaSetDevice(0));
    A(cudaMallocAsync(&p, 4, one));
    A(cudaPointerGetAttributes(&attributes, p));
    V(attributes.device);
    A(cudaFreeAsync(p, 0));
    Q(cudaDeviceGetDefaultMemPool(&pool, 0));
    A(cudaMallocFromPoolAsync(&p, 4, pool, one));
    A(cudaPointerGetAttributes(&attributes, p));
    V(attributes.device);
    A(cudaMemsetAsync(p, 0, 4, one));
    A(cudaFreeAsync(p, one));
    A(cudaStreamSynchronize(one));
    A(cudaDeviceSynchronize());
}

// Mapped memory of device 0, to which nobody has access yet.
static CUdeviceptr mapped_memory(size_t *size)
{
    CUmemAllocationProp prop = {};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at = 0;
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = 0;
    Q(cudaFree(0));
    Q(cuMemGetAllocationGranularity(size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    Q(cuMemAddressReserve(&at, *size, 0, 0, 0));
    Q(cuMemCreate(&handle, *size, &prop, 0));
    Q(cuMemMap(at, *size, 0, handle, 0));
    return at;
}

SECTION(mapped)
{
    CUmemAccessDesc access[2] = {};
    size_t size = 0;
    unsigned long long flags = 99;
    int value = 51;
    Q(cudaSetDevice(0));
    const CUdeviceptr at = mapped_memory(&size);
    for (int k = 0; k < 2; k++) {
        access[k].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access[k].location.id = k;
        access[k].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    D(cuMemSetAccess(at, size, access, 1));
    Q(cudaMemcpy((void *)at, &value, 4, cudaMemcpyHostToDevice));
    Q(cudaDeviceSynchronize());
    D(cuMemGetAccess(&flags, &access[1].location, at));
    V(flags);
    D(cuMemSetAccess(at, size, access + 1, 1));
    D(cuMemGetAccess(&flags, &access[1].location, at));
    V(flags);
    D(cuMemGetAccess(&flags, &access[0].location, at));
    V(flags);
    Q(cudaSetDevice(1));
    reads("a kernel of 1", (const int *)at);
    access[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    D(cuMemSetAccess(at, size, access + 1, 1));
    reads("a kernel of 1, read only", (const int *)at);
    writes("a kernel of 1, read only", (int *)at);
}

SECTION(mapped_refused)
{
    CUmemAccessDesc access = {};
    size_t size = 0;
    Q(cudaSetDevice(1));
    const CUdeviceptr at = mapped_memory(&size);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    D(cuMemSetAccess(at, size, &access, 1));
    A(cudaDeviceEnablePeerAccess(0, 0));
    reads("enabled, without access of its own", (const int *)at);
}

// ---- what pointers and handles say ------------------------------------------------------------

static void tells(const char *what, const void *p, CUcontext zero, CUcontext one)
{
    cudaPointerAttributes attributes;
    CUcontext context = NULL;
    int ordinal = -1;
    unsigned access = 99;
    CUdeviceptr seen = 0;
    const CUdeviceptr at = (CUdeviceptr)p;
    AL(what, cudaPointerGetAttributes(&attributes, p));
    say("  type %d device %d device pointer %s host pointer %s", attributes.type, attributes.device,
        attributes.devicePointer ? "set" : "null", attributes.hostPointer ? "set" : "null");
    CUresult code = cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at);
    say("  context %s %s", name_of(code), code ? "" : which(context, zero, one));
    code = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
    say("  ordinal %s %d", name_of(code), ordinal);
    code = cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at);
    say("  pointer %s %d", name_of(code), seen == at);
    code = cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at);
    say("  access %s %u", name_of(code), access);
}

SECTION(pointers)
{
    int *zero = word_of(0, 1), *one = word_of(1, 2), *pinned = NULL, *any = NULL, *pooled = NULL;
    CUcontext a = primary_of(0), b = primary_of(1);
    Q(cudaSetDevice(1));
    Q(cudaMallocHost(&pinned, 4));
    Q(cudaMallocManaged(&any, 4));
    Q(cudaMallocAsync(&pooled, 4, 0));
    Q(cudaSetDevice(0));
    tells("of 0, by 0", zero, a, b);
    tells("of 1, by 0", one, a, b);
    tells("page-locked under 1, by 0", pinned, a, b);
    tells("managed under 1, by 0", any, a, b);
    tells("of a pool of 1, by 0", pooled, a, b);
    Q(cudaDeviceEnablePeerAccess(1, 0));
    tells("of 1, by 0, a peer", one, a, b);
}

SECTION(functions)
{
    cudaFunction_t zero, one;
    CUcontext a, b;
    CUfunction f;
    int *p = word_of(1, 2), value = 66;
    cudaFuncAttributes attributes;
    Q(cudaSetDevice(0));
    Q(cudaGetFuncBySymbol(&zero, (const void *)write_one));
    Q(cudaSetDevice(1));
    Q(cudaGetFuncBySymbol(&one, (const void *)write_one));
    V(zero == one);
    a = primary_of(0);
    b = primary_of(1);
    void *arguments[] = {&p, &value};
    Q(cuCtxSetCurrent(b));
    D(cuLaunchKernel((CUfunction)zero, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    D(cuLaunchKernel((CUfunction)one, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    D(cuCtxSynchronize());
    f = (CUfunction)one;
    Q(cuCtxSetCurrent(a));
    D(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    A(cudaFuncGetAttributes(&attributes, write_one));
}

// ---- errors -----------------------------------------------------------------------------------

SECTION(error_of_one)
{
    int *zero = word_of(0, 1), *p = NULL;
    cudaStream_t of_zero;
    Q(cudaSetDevice(0));
    Q(cudaStreamCreate(&of_zero));
    Q(cudaSetDevice(1));
    Q(cudaMalloc(&p, 4));
    write_one<<<1, 1>>>((int *)16, 1);
    A(cudaDeviceSynchronize());
    A(cudaMalloc(&p, 4));
    A(cudaSetDevice(0));
    A(cudaMalloc(&p, 4));
    A(cudaStreamSynchronize(of_zero));
    write_one<<<1, 1>>>(zero, 3);
    A(cudaGetLastError());
    A(cudaDeviceSynchronize());
    show("of 0", zero);
}
