// What CUPTI records of copies between two devices, asked of two H200s: without direct access two
// records of MEMCPY, of a copy to the host and one to the device, which both name device memory on
// both sides; with it one of MEMCPY2.
//
//     nvcc -arch=sm_90 -o peer_activities tests/recorder/peer_activities.cu -lcupti
//
//     -- no access
//     MEMCPY kind 2 from 3 to 3, 300 bytes, device 1 context 2 stream 17
//     MEMCPY kind 1 from 3 to 3, 300 bytes, device 0 context 1 stream 14
//     ...
//     -- access
//     MEMCPY2 kind 10 from 3 to 3, 300 bytes, device 1 (1 to 0) context 2 stream 20
//     ...
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cupti.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int failed = (int)(call);                                                            \
        if (failed == 0) break;                                                                    \
        fprintf(stderr, "%s: %d\n", #call, failed);                                                \
        exit(1);                                                                                   \
    } while (0)

enum { BUFFER = 1 << 20, FEW = 300, MANY = 3000000 };

static void CUPTIAPI on_request(uint8_t **buffer, size_t *size, size_t *records)
{
    *size = BUFFER;
    *records = 0;
    *buffer = (uint8_t *)aligned_alloc(8, BUFFER);
}

static void print(const CUpti_ActivityMemcpy6 *copy)
{
    printf("MEMCPY kind %d from %d to %d, %llu bytes, device %u context %u stream %u\n",
           copy->copyKind, copy->srcKind, copy->dstKind, (unsigned long long)copy->bytes,
           copy->deviceId, copy->contextId, copy->streamId);
}

static void print(const CUpti_ActivityMemcpyPtoP4 *copy)
{
    printf("MEMCPY2 kind %d from %d to %d, %llu bytes, device %u (%u to %u) context %u stream %u\n",
           copy->copyKind, copy->srcKind, copy->dstKind, (unsigned long long)copy->bytes,
           copy->deviceId, copy->srcDeviceId, copy->dstDeviceId, copy->contextId, copy->streamId);
}

static void CUPTIAPI on_complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    CUpti_Activity *activity = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &activity) == CUPTI_SUCCESS) {
        if (activity->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
            print((const CUpti_ActivityMemcpy6 *)activity);
        else
            print((const CUpti_ActivityMemcpyPtoP4 *)activity);
    }
    free(buffer);
}

static int *memory[2];
static cudaStream_t stream[2];

static void copy_each(const char *what)
{
    printf("-- %s\n", what);
    for (const size_t bytes : {(size_t)FEW, (size_t)MANY}) {
        for (int d = 0; d < 2; d++) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaMemcpyPeerAsync(memory[d], d, memory[1 - d], 1 - d, bytes, stream[d]));
            CHECK(cudaStreamSynchronize(stream[d]));
        }
        CHECK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, bytes));
        CHECK(cudaMemcpyAsync(memory[0], memory[1], bytes, cudaMemcpyDefault, stream[1]));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cuptiActivityFlushAll(1));
}

int main()
{
    CHECK(cuptiActivityRegisterCallbacks(on_request, on_complete));
    CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2));
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&memory[d], MANY));
        CHECK(cudaMemset(memory[d], 0, MANY));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        CHECK(cudaDeviceSynchronize());
    }
    copy_each("no access");
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
    }
    copy_each("access");
    return 0;
}
