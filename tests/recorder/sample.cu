// A program whose record is known: four streams, in each a copy in, a kernel and a copy out; one
// event; a module of the driver API is not used. Compiled into lesson.so by gpu.sh.
#include <cstdio>
#include <cstdlib>

#define COUNT (1 << 20)
#define STREAMS 4
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error));                                                    \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

__global__ void turn(float *values)
{
    for (int k = 0; k < 50; k++)
        for (int i = threadIdx.x; i < COUNT; i += blockDim.x) values[i] = values[i] * 1.5f + 1.0f;
}

extern "C" __attribute__((visibility("default"))) int sample(void)
{
    cudaStream_t streams[STREAMS];
    float *host[STREAMS], *device[STREAMS];
    cudaEvent_t event;

    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], i % 2 ? cudaStreamNonBlocking : 0));
        CHECK(cudaMallocHost(&host[i], COUNT * sizeof(float)));
        CHECK(cudaMalloc(&device[i], COUNT * sizeof(float)));
        for (int k = 0; k < COUNT; k++) host[i][k] = (float)i;
    }
    for (int i = 0; i < STREAMS; i++)
        CHECK(cudaMemcpyAsync(device[i], host[i], COUNT * sizeof(float), cudaMemcpyHostToDevice,
                              streams[i]));
    for (int i = 0; i < STREAMS; i++) turn<<<1, 64, 0, streams[i]>>>(device[i]);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(event, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], event, 0));
    for (int i = 0; i < STREAMS; i++)
        CHECK(cudaMemcpyAsync(host[i], device[i], COUNT * sizeof(float), cudaMemcpyDeviceToHost,
                              streams[i]));
    CHECK(cudaDeviceSynchronize());
    if (cudaStreamQuery((cudaStream_t)0) != cudaSuccess) return 1;
    void *page = malloc(4096);
    CHECK(cudaMemcpy(device[0], page, 4096, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device[0], 0, 4096));
    free(page);
    // An error is a record too, and one buffer leaks on purpose.
    if (cudaMalloc(&device[0], (size_t)1 << 60) == cudaSuccess) return 1;
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cudaStreamDestroy(streams[i]));
        CHECK(cudaFreeHost(host[i]));
        if (i > 0) CHECK(cudaFree(device[i]));
    }
    CHECK(cudaEventDestroy(event));
    return 0;
}
