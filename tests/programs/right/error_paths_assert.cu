// Right: error handling: bad launches and arguments, non-sticky errors cleared, printf from the
// device, at last a failing device assert.
// Found: invalid launch, assert
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>

static int failures = 0;

static void expectError(const char *what, cudaError_t got, cudaError_t want)
{
    if (got != want) {
        std::printf("%s: got %s, expected %s\n", what, cudaGetErrorName(got),
                    cudaGetErrorName(want));
        ++failures;
    }
}

#define OK(x) expectError(#x, (x), cudaSuccess)

__global__ void addOne(int *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(v != nullptr);
    if (i < n) v[i] += 1;
}

__global__ void report(const int *v, int n)
{
    // one line from one thread: a format with several kinds of arguments
    if (blockIdx.x == 0 && threadIdx.x == 0)
        printf("device: n=%d first=%d %s %5.2f %c 0x%llx\n", n, v[0], "text", 2.5, 'z',
               0x123456789abcULL);
}

__global__ void checkPositive(const int *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) assert(v[i] >= 0 && "every element is expected to be positive");
}

__global__ void __launch_bounds__(128) boundedKernel(int *v)
{
    v[threadIdx.x] = threadIdx.x;
}

int main()
{
    // ---- errors that do no harm to the context ------------------------------
    expectError("cudaSetDevice(9999)", cudaSetDevice(9999), cudaErrorInvalidDevice);
    OK(cudaSetDevice(0));
    (void)cudaGetLastError();

    int *d = nullptr;
    void *huge = nullptr;
    expectError("a petabyte", cudaMalloc(&huge, (size_t)1 << 50), cudaErrorMemoryAllocation);
    expectError("the failure is remembered", cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    expectError("and handed out", cudaGetLastError(), cudaErrorMemoryAllocation);
    expectError("once", cudaGetLastError(), cudaSuccess);

    const int n = 256;
    OK(cudaMalloc(&d, n * sizeof(int)));
    OK(cudaMemset(d, 0, n * sizeof(int)));
    expectError("cudaMemcpy to null", cudaMemcpy(nullptr, d, 4, cudaMemcpyDeviceToHost),
                cudaErrorInvalidValue);
    (void)cudaGetLastError();

    addOne<<<1, 4096>>>(d, n); // too many threads
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) {
        std::printf("a block of 4096 threads was accepted\n");
        ++failures;
    }
    expectError("cleared", cudaGetLastError(), cudaSuccess);

    addOne<<<0, 64>>>(d, n); // no blocks
    e = cudaGetLastError();
    if (e == cudaSuccess) {
        std::printf("an empty grid was accepted\n");
        ++failures;
    }

    addOne<<<1, 64, 4 << 20>>>(d, n); // too much shared memory
    e = cudaGetLastError();
    if (e == cudaSuccess) {
        std::printf("4 MB of shared memory were accepted\n");
        ++failures;
    }

    boundedKernel<<<1, 512>>>(d); // beyond its launch bounds
    e = cudaGetLastError();
    if (e == cudaSuccess) {
        std::printf("the launch bounds were ignored\n");
        ++failures;
    }

    // none of these did anything
    int h[n];
    OK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (h[i] != 0) {
            std::printf("h[%d] = %d after the refused launches\n", i, h[i]);
            ++failures;
            break;
        }

    // ---- events and streams ---------------------------------------------------
    cudaEvent_t a, b;
    OK(cudaEventCreateWithFlags(&a, cudaEventDisableTiming));
    OK(cudaEventCreate(&b));
    OK(cudaEventQuery(a)); // never recorded counts as complete
    OK(cudaEventRecord(a));
    OK(cudaEventRecord(b));
    OK(cudaEventSynchronize(b));
    float ms;
    expectError("time of an event without timing", cudaEventElapsedTime(&ms, a, b),
                cudaErrorInvalidResourceHandle);
    (void)cudaGetLastError();
    OK(cudaEventDestroy(a));
    OK(cudaEventDestroy(b));
    OK(cudaFree(nullptr));

    cudaPointerAttributes attr;
    OK(cudaPointerGetAttributes(&attr, d));
    if (attr.type != cudaMemoryTypeDevice || attr.devicePointer != d) {
        std::printf("attributes of a device pointer are wrong\n");
        ++failures;
    }
    OK(cudaPointerGetAttributes(&attr, h));
    if (attr.type != cudaMemoryTypeUnregistered) {
        std::printf("attributes of a stack pointer are wrong\n");
        ++failures;
    }

    if (std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") != 0 ||
        std::string(cudaGetErrorString(cudaSuccess)) != "no error") {
        std::printf("unexpected names of errors\n");
        ++failures;
    }

    // ---- the context still works -----------------------------------------------
    addOne<<<2, 128>>>(d, n);
    OK(cudaGetLastError());
    addOne<<<2, 128>>>(d, n);
    OK(cudaGetLastError());
    report<<<2, 32>>>(d, n);
    OK(cudaGetLastError());
    checkPositive<<<2, 128>>>(d, n); // holds
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        if (h[i] != 2) {
            std::printf("h[%d] = %d, expected 2\n", i, h[i]);
            ++failures;
            break;
        }

    // ---- an assertion that fails: the error is sticky -----------------------------
    h[77] = -5;
    OK(cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice));
    std::printf("the next message about an assertion is meant to be there\n");
    std::fflush(stdout);
    checkPositive<<<2, 128>>>(d, n);
    expectError("device assert", cudaDeviceSynchronize(), cudaErrorAssert);
    expectError("sticky", cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost), cudaErrorAssert);
    expectError("still sticky", cudaDeviceSynchronize(), cudaErrorAssert);

    if (failures) {
        std::printf("%d expectations failed\n", failures);
        return 1;
    }
    std::printf("PASS\n");
    return 0;
}
