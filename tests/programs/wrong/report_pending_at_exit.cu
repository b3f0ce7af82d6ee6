// Wrong: main returns while the stream still has kernels, a copy and the reporting host function in
// it (no synchronisation before it).
// Found: work left unfinished
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t err = (x);                                                                     \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err));            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int kPaths = 8192;

__global__ void simulate(float *pos, int steps, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kPaths) return;
    unsigned s = seed + 747796405u * (i + 1);
    float x = pos[i];
    for (int k = 0; k < steps; ++k) {
        s = s * 1664525u + 1013904223u;
        x += (s >> 31) ? 1.0f : -1.0f;
    }
    pos[i] = x;
}

struct Job {
    float *host;
    int steps, rounds;
    unsigned seed;
};

// compares the walkers with the host's own and says so
static void CUDART_CB report(void *p)
{
    const Job *job = static_cast<const Job *>(p);
    int bad = 0;
    double mean = 0;
    for (int i = 0; i < kPaths; ++i) {
        float x = 0.0f;
        for (int r = 0; r < job->rounds; ++r) {
            unsigned s = job->seed + r + 747796405u * (i + 1);
            for (int k = 0; k < job->steps; ++k) {
                s = s * 1664525u + 1013904223u;
                x += (s >> 31) ? 1.0f : -1.0f;
            }
        }
        mean += job->host[i] / kPaths;
        if (job->host[i] != x && bad++ < 5)
            printf("walker %d is at %f, expected %f\n", i, job->host[i], x);
    }
    if (bad == 0) printf("mean position %f\nPASS\n", mean);
    fflush(stdout);
}

int main()
{
    static Job job;
    job.steps = 50;
    job.rounds = 5;
    job.seed = 4711;
    float *d;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&job.host, kPaths * sizeof(float)));
    CHECK(cudaMalloc(&d, kPaths * sizeof(float)));
    CHECK(cudaMemsetAsync(d, 0, kPaths * sizeof(float), stream));
    for (int r = 0; r < job.rounds; ++r) {
        simulate<<<kPaths / 128, 128, 0, stream>>>(d, job.steps, job.seed + r);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpyAsync(job.host, d, kPaths * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, report, &job));
    return 0;
}
