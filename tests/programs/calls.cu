// Programs that use the less usual calls: pools, hints, asynchronous copies of every shape,
// launches with attributes, settings of devices, kernels and streams.
#include "tests/programs/program.cuh"

#include <cooperative_groups.h>

__device__ int table[64];

__global__ void add_table(int *x, int factor)
{
    x[threadIdx.x] = x[threadIdx.x] * factor + table[threadIdx.x];
}

// ---- memory ---------------------------------------------------------------------------------

static void memory_pools()
{
    cudaMemPool_t first, current, mine;
    cudaMemPoolProps props = {};
    cudaMemAccessFlags access;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    cudaStream_t stream;
    unsigned long long threshold = 1 << 20, back = 0;
    int host[64], *x;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&first, 0));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(first == current);
    props.allocType = cudaMemAllocationTypePinned;
    props.location = here;
    CHECK(cudaMemPoolCreate(&mine, &props));
    CHECK(cudaMemPoolSetAttribute(mine, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(mine, cudaMemPoolAttrReleaseThreshold, &back));
    EXPECT(back == threshold);
    CHECK(cudaMemPoolGetAccess(&access, mine, &here));
    EXPECT(access == cudaMemAccessFlagsProtReadWrite);
    cudaMemAccessDesc description = {here, cudaMemAccessFlagsProtReadWrite};
    CHECK(cudaMemPoolSetAccess(mine, &description, 1));
    CHECK(cudaMallocFromPoolAsync(&x, sizeof host, mine, stream));
    CHECK(cudaMemsetAsync(x, 0, sizeof host, stream));
    add_table<<<1, 64, 0, stream>>>(x, 3);
    CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDefault, stream));
    CHECK(cudaFreeAsync(x, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int value : host) EXPECT(value == 0);
    CHECK(cudaMemPoolTrimTo(mine, 0));
    CHECK(cudaDeviceSetMemPool(0, mine));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    EXPECT(current == mine);
    CHECK(cudaDeviceSetMemPool(0, first));
    CHECK(cudaMemPoolDestroy(mine));
    EXPECT_ERROR(cudaMemPoolCreate(&mine, nullptr), cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream));
}

static void managed_hints()
{
    const size_t bytes = 1 << 16;
    int *x;
    unsigned flags = 0;
    void *pinned;
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMallocManaged(&x, bytes));
    for (int i = 0; i < 64; i++) x[i] = i;
    CHECK(cudaMemAdvise(x, bytes, cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemAdvise(x, bytes, cudaMemAdviseUnsetReadMostly, device));
    CHECK(cudaMemPrefetchAsync(x, bytes, device, 0, 0));
    add_table<<<1, 64>>>(x, 2);
    CHECK(cudaMemPrefetchAsync(x, bytes, host, 0, 0));
    CHECK(cudaStreamAttachMemAsync(0, x, 0, cudaMemAttachGlobal));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) EXPECT(x[i] == 2 * i);
    CHECK(cudaHostAlloc(&pinned, 100, cudaHostAllocPortable | cudaHostAllocMapped));
    CHECK(cudaHostGetFlags(&flags, pinned));
    EXPECT((flags & (cudaHostAllocPortable | cudaHostAllocMapped)) ==
           (cudaHostAllocPortable | cudaHostAllocMapped));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(x));
}

static void asynchronous_shapes()
{
    int *a, *b, *host, *rows;
    size_t pitch;
    cudaPitchedPtr box;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&host, 3 * 64 * sizeof(int)));
    CHECK(cudaMalloc(&a, 64 * sizeof(int)));
    CHECK(cudaMalloc(&b, 64 * sizeof(int)));
    CHECK(cudaMallocPitch(&rows, &pitch, 8 * sizeof(int), 8));
    CHECK(cudaMalloc3D(&box, make_cudaExtent(10, 4, 2)));
    for (int i = 0; i < 64; i++) host[i] = value_at(i);
    CHECK(
        cudaMemcpyToSymbolAsync(table, host, 64 * sizeof(int), 0, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(a, 0, 64 * sizeof(int), stream));
    add_table<<<1, 64, 0, stream>>>(a, 1);
    CHECK(cudaMemcpyPeerAsync(b, 0, a, 0, 64 * sizeof(int), stream));
    CHECK(cudaMemcpy2DAsync(rows, pitch, b, 8 * sizeof(int), 8 * sizeof(int), 8,
                            cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpy2DAsync(host + 64, 8 * sizeof(int), rows, pitch, 8 * sizeof(int), 8,
                            cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyFromSymbolAsync(host + 128, table, 32 * sizeof(int), 32 * sizeof(int),
                                    cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemset3DAsync(box, 5, make_cudaExtent(10, 3, 2), stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 64; i++) EXPECT(host[64 + i] == value_at(i));
    for (int i = 0; i < 32; i++) EXPECT(host[128 + i] == value_at(32 + i));
    unsigned char byte = 0;
    CHECK(cudaMemcpy(&byte, static_cast<char *>(box.ptr) + box.pitch * (4 + 2) + 9, 1,
                     cudaMemcpyDeviceToHost));
    EXPECT(byte == 5); // the last one: slice 1, row 2
    CHECK(cudaMemcpyPeer(a, 0, b, 0, 16));
    EXPECT_ERROR(cudaMemcpyPeer(a, 0, b, 99, 16), cudaErrorInvalidDevice);
    EXPECT_ERROR(cudaMemcpyToSymbolAsync(table, host, 4, 0, cudaMemcpyDeviceToHost, stream),
                 cudaErrorInvalidMemcpyDirection);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(box.ptr));
}

// ---- launches -------------------------------------------------------------------------------

__global__ void exchange(int *x)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = static_cast<int>(grid.thread_rank()), n = static_cast<int>(grid.size());
    int other = x[n - 1 - i];
    grid.sync();
    x[i] = other + 1;
}

static void launch_with_attributes()
{
    int *x, host[128];
    cudaStream_t stream;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&x, sizeof host));
    for (int i = 0; i < 128; i++) host[i] = i;
    CHECK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream));
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, exchange, x));
    CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 128; i++) EXPECT(host[i] == 128 - i);
    config.blockDim = dim3(4096);
    EXPECT_ERROR(cudaLaunchKernelEx(&config, exchange, x), cudaErrorInvalidValue);
    config.blockDim = dim3(32);
    config.gridDim = dim3(1 << 20); // not all of them can be resident
    EXPECT_ERROR(cudaLaunchKernelEx(&config, exchange, x), cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
}

static void kernel_settings()
{
    size_t offset = 99, size = 99, room = 0;
    int blocks = 0;
    cudaKernel_t kernel = nullptr;
    const void *symbol = reinterpret_cast<const void *>(add_table);
    CHECK(cudaFuncSetCacheConfig(add_table, cudaFuncCachePreferL1));
    CHECK(cudaFuncGetParamInfo(symbol, 1, &offset, &size));
    EXPECT(offset == 8 && size == 4);
    EXPECT_ERROR(cudaFuncGetParamInfo(symbol, 2, &offset, &size), cudaErrorInvalidValue);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, add_table, 2, 64));
    EXPECT(room > 0);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_table, 64, 0));
    EXPECT(blocks >= 2);
    CHECK(cudaGetKernel(&kernel, add_table));
    EXPECT(kernel != nullptr);
    CHECK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024,
                                          0));
    EXPECT_ERROR(
        cudaFuncSetAttribute(add_table, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30),
        cudaErrorInvalidValue);
}

// ---- settings -------------------------------------------------------------------------------

static void stream_settings()
{
    cudaStream_t stream, other;
    cudaLaunchAttributeValue value = {};
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaEvent_t event;
    int device = -1;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaStreamGetDevice(stream, &device));
    EXPECT(device == 0);
    value.syncPolicy = cudaSyncPolicySpin;
    CHECK(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    CHECK(cudaStreamCopyAttributes(other, stream));
    value.syncPolicy = cudaSyncPolicyAuto;
    CHECK(cudaStreamGetAttribute(other, cudaLaunchAttributeSynchronizationPolicy, &value));
    EXPECT(value.syncPolicy == cudaSyncPolicySpin);
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    status = cudaStreamCaptureStatusInvalidated;
    CHECK(cudaStreamGetCaptureInfo(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == cudaStreamCaptureModeGlobal);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == cudaStreamCaptureModeRelaxed);
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault));
    CHECK(cudaEventSynchronize(event));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
}

static void device_settings()
{
    cudaFuncCache cache = cudaFuncCachePreferNone;
    int can = -1, value = -1;
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    CHECK(cudaDeviceGetCacheConfig(&cache));
    EXPECT(cache == cudaFuncCachePreferShared);
    CHECK(cudaCtxResetPersistingL2Cache());
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(can == 0);
    EXPECT_ERROR(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0),
                 cudaErrorInvalidDevice);
    EXPECT_ERROR(cudaDeviceCanAccessPeer(&can, 0, 99), cudaErrorInvalidDevice);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    EXPECT(format.x == 32 && format.y == 32 && format.z == 0);
    EXPECT(format.f == cudaChannelFormatKindFloat);
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"memory_pools", memory_pools},
                                       {"managed_hints", managed_hints},
                                       {"asynchronous_shapes", asynchronous_shapes},
                                       {"launch_with_attributes", launch_with_attributes},
                                       {"kernel_settings", kernel_settings},
                                       {"stream_settings", stream_settings},
                                       {"device_settings", device_settings}};
    return run_programs(argc, argv, programs);
}
