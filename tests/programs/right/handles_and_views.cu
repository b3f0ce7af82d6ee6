// Right: an allocation's handle that was asked for twice is released twice; what was set of a
// stream is read back; a texture's view is of all of its array, in its own format; a stream waits
// for a word that another host thread sets; and a long chain of events between two streams.
#include "tests/programs/program.cuh"

#include <cuda.h>
#include <thread>

#define CU(x) EXPECT((x) == CUDA_SUCCESS)

static void handles()
{
    CUmemAllocationProp prop = {};
    CUmemGenericAllocationHandle first, again;
    CUdeviceptr address;
    size_t size;
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CU(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CU(cuMemAddressReserve(&address, size, 0, 0, 0));
    CU(cuMemCreate(&first, size, &prop, 0));
    CU(cuMemMap(address, size, 0, first, 0));
    CU(cuMemRetainAllocationHandle(&again, (void *)address));
    EXPECT(again == first);
    CU(cuMemRelease(again));
    CU(cuMemUnmap(address, size));
    CU(cuMemRelease(first));
    CU(cuMemAddressFree(address, size));
}

static void attributes()
{
    cudaStream_t stream;
    cudaStreamAttrValue set = {}, got = {};
    void *memory;
    CHECK(cudaMalloc(&memory, 4096));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamGetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &got));
    EXPECT(got.memSyncDomain == cudaLaunchMemSyncDomainDefault);
    set.accessPolicyWindow.base_ptr = memory;
    set.accessPolicyWindow.num_bytes = 1024;
    set.accessPolicyWindow.hitRatio = 0.5f;
    set.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    set.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &set));
    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &got));
    EXPECT(got.accessPolicyWindow.num_bytes == 1024);
    EXPECT(got.accessPolicyWindow.base_ptr == memory);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(memory));
}

static void views()
{
    const cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaResourceViewDesc view = {};
    cudaTextureObject_t texture;
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &texel, 8, 4));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    view.format = cudaResViewFormatFloat1;
    view.width = 8;
    view.height = 4;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, &view));
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

static void waits()
{
    cudaStream_t stream;
    unsigned *flag;
    CHECK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    *flag = 0;
    CU(cuStreamWaitValue32(stream, (CUdeviceptr)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    std::thread other([&] { __atomic_store_n(flag, 1u, __ATOMIC_RELEASE); });
    CHECK(cudaStreamSynchronize(stream));
    other.join();
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(flag));
}

__global__ void add(int *sum)
{
    ++*sum;
}

static void chain()
{
    const int links = 6000;
    cudaStream_t streams[2];
    cudaEvent_t events[2];
    int *sum, result;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamCreate(&streams[i]));
        CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
    }
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < links; k++) {
        add<<<1, 1, 0, streams[k % 2]>>>(sum);
        CHECK(cudaEventRecord(events[k % 2], streams[k % 2]));
        CHECK(cudaStreamWaitEvent(streams[1 - k % 2], events[k % 2], 0));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    EXPECT(result == links);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamDestroy(streams[i]));
        CHECK(cudaEventDestroy(events[i]));
    }
    CHECK(cudaFree(sum));
}

int main()
{
    CHECK(cudaFree(0));
    handles();
    attributes();
    views();
    waits();
    chain();
    puts("PASS");
    return 0;
}
