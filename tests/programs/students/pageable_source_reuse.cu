// right: cudaMemcpyAsync from pageable memory, the source is overwritten at once; pageable
// destination is read at once
//
// relies on pageable copies staging
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <numeric>
#include <vector>

#define gpuErrchk(ans)                                                                             \
    {                                                                                              \
        gpuAssert((ans), __FILE__, __LINE__);                                                      \
    }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}

struct Params {
    int scale;
    int shift;
    int salt[30];
};

__global__ void apply(const int *batch, const Params *p, long long *acc, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        acc[i] += (long long)batch[i] * p->scale + p->shift + p->salt[i % 30];
    }
}

__global__ void sumAll(const long long *acc, unsigned long long *out, int n)
{
    __shared__ unsigned long long part[128];
    unsigned long long s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += (unsigned long long)acc[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int off = blockDim.x / 2; off > 0; off >>= 1) {
        if (threadIdx.x < off) part[threadIdx.x] += part[threadIdx.x + off];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = part[0];
}

static void fillBatch(std::vector<int> &b, int step)
{
    for (size_t i = 0; i < b.size(); ++i) b[i] = (int)((i * 31 + step * 1009) % 997) - 400;
}

static Params makeParams(int step)
{
    Params p;
    p.scale = 3 + step;
    p.shift = 17 * step;
    for (int k = 0; k < 30; ++k) p.salt[k] = k * step - 5;
    return p;
}

int main()
{
    const int n = 40000; // 160 kB per batch: larger than what goes along in a command
    const int steps = 6;
    cudaStream_t stream;
    gpuErrchk(cudaStreamCreate(&stream));

    int *d_batch;
    Params *d_params;
    long long *d_acc;
    unsigned long long *d_sum;
    gpuErrchk(cudaMalloc(&d_batch, n * sizeof(int)));
    gpuErrchk(cudaMalloc(&d_params, sizeof(Params)));
    gpuErrchk(cudaMalloc(&d_acc, n * sizeof(long long)));
    gpuErrchk(cudaMalloc(&d_sum, sizeof(unsigned long long)));
    gpuErrchk(cudaMemsetAsync(d_acc, 0, n * sizeof(long long), stream));

    std::vector<int> batch(n);
    std::vector<long long> want(n, 0);
    std::vector<unsigned long long> sums(steps);
    for (int step = 0; step < steps; ++step) {
        Params p = makeParams(step);
        fillBatch(batch, step);
        for (int i = 0; i < n; ++i)
            want[i] += (long long)batch[i] * p.scale + p.shift + p.salt[i % 30];

        gpuErrchk(cudaMemcpyAsync(d_batch, batch.data(), n * sizeof(int), cudaMemcpyHostToDevice,
                                  stream));
        gpuErrchk(cudaMemcpyAsync(d_params, &p, sizeof(p), cudaMemcpyHostToDevice, stream));
        // both sources are pageable: they were staged when the calls came back
        p.scale = -1;
        p.shift = 123456;
        std::fill(batch.begin(), batch.end(), 0x7fffffff);

        apply<<<24, 128, 0, stream>>>(d_batch, d_params, d_acc, n);
        gpuErrchk(cudaGetLastError());
        sumAll<<<1, 128, 0, stream>>>(d_acc, d_sum, n);
        gpuErrchk(cudaGetLastError());

        // device to pageable host: returns only once the copy has completed
        gpuErrchk(cudaMemcpyAsync(&sums[step], d_sum, sizeof(sums[step]), cudaMemcpyDeviceToHost,
                                  stream));
        unsigned long long ref = 0;
        for (long long v : want) ref += (unsigned long long)v;
        if (sums[step] != ref) {
            printf("step %d: sum %llu, expected %llu\n", step, sums[step], ref);
            return 1;
        }
    }

    std::vector<long long> got(n);
    gpuErrchk(
        cudaMemcpyAsync(got.data(), d_acc, n * sizeof(long long), cudaMemcpyDeviceToHost, stream));
    int bad = 0;
    for (int i = 0; i < n; ++i)
        if (got[i] != want[i] && bad++ < 5)
            printf("acc[%d] = %lld, expected %lld\n", i, got[i], want[i]);

    gpuErrchk(cudaStreamSynchronize(stream));
    gpuErrchk(cudaStreamDestroy(stream));
    gpuErrchk(cudaFree(d_batch));
    gpuErrchk(cudaFree(d_params));
    gpuErrchk(cudaFree(d_acc));
    gpuErrchk(cudaFree(d_sum));
    if (bad) {
        printf("%d wrong\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
