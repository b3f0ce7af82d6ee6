// Right: what a dependent kernel takes before it waits is no kernel's that may still run: weights,
// what the host has waited for, and what was copied in between.
#include "tests/programs/program.cuh"

enum { N = 4096, THREADS = 128, TAPS = 8 };

__global__ void fill(int *values, int factor)
{
    cudaTriggerProgrammaticLaunchCompletion();
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    values[i] = i * factor;
}

/* One thread waits for all. */
__global__ void weigh(const int *weights, const int *values, int *sums)
{
    __shared__ int taps[TAPS];
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (threadIdx.x < TAPS) taps[threadIdx.x] = weights[threadIdx.x];
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < TAPS; k++) sum += taps[k] * values[(i + k) % N];
    sums[i] = sum;
}

/* It needs no wait where nothing is going on, and waits late where only its store matters. */
__global__ void take(const int *values, int *sums)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int value = values[N - 1 - i];
    cudaGridDependencySynchronize();
    sums[i] += value;
}

static int *weights, *values, *sums;
static cudaStream_t stream;

template <typename... Types> static void launch(void (*kernel)(Types...), Types... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(N / THREADS);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

int main()
{
    static int host[N], other[N];
    const int taps[TAPS] = {3, -1, 4, 1, -5, 9, 2, -6};
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&weights, sizeof taps));
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMalloc(&sums, sizeof host));
    CHECK(cudaMemcpy(weights, taps, sizeof taps, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    fill<<<N / THREADS, THREADS, 0, stream>>>(values, 2);
    launch<const int *, const int *, int *>(weigh, weights, values, sums);

    fill<<<N / THREADS, THREADS, 0, stream>>>(values, 3);
    CHECK(cudaStreamSynchronize(stream));
    launch<const int *, int *>(take, values, sums); /* the host has waited for the one before it */

    for (int i = 0; i < N; i++) other[i] = 5 * i;
    fill<<<N / THREADS, THREADS, 0, stream>>>(values, 4);
    CHECK(cudaMemcpyAsync(values, other, sizeof other, cudaMemcpyHostToDevice, stream));
    launch<const int *, int *>(take, values, sums); /* what is before it is a copy */

    CHECK(cudaMemcpyAsync(host, sums, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++) {
        int sum = (3 + 5) * (N - 1 - i);
        for (int k = 0; k < TAPS; k++) sum += taps[k] * 2 * ((i + k) % N);
        EXPECT(host[i] == sum);
    }
    CHECK(cudaFree(weights));
    CHECK(cudaFree(values));
    CHECK(cudaFree(sums));
    CHECK(cudaStreamDestroy(stream));
    puts("PASS");
    return 0;
}
