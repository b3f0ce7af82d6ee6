// Right: programmatic dependent launches: the second kernel starts early and waits for the first.
#include "tests/programs/program.cuh"

#include <vector>
__global__ void first(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
    if (i < n) p[i] = i * 3;
}
__global__ void second(const int *p, int *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int local = i % 5;
    cudaGridDependencySynchronize();
    if (i < n) o[i] = p[n - 1 - i] + local;
}
int main()
{
    const int n = 6000;
    int *p, *o;
    CHECK(cudaMalloc(&p, n * 4));
    CHECK(cudaMalloc(&o, n * 4));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    std::vector<int> h(n);
    for (int r = 0; r < 3; r++) {
        first<<<(n + 255) / 256, 256, 0, s>>>(p, n);
        cudaLaunchConfig_t c = {};
        c.gridDim = dim3((n + 255) / 256);
        c.blockDim = dim3(256);
        c.stream = s;
        cudaLaunchAttribute a[1];
        a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        a[0].val.programmaticStreamSerializationAllowed = 1;
        c.attrs = a;
        c.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&c, second, (const int *)p, o, n));
    }
    CHECK(cudaMemcpyAsync(h.data(), o, n * 4, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    for (int i = 0; i < n; i++) EXPECT(h[i] == (n - 1 - i) * 3 + i % 5);
    CHECK(cudaFree(p));
    CHECK(cudaFree(o));
    CHECK(cudaStreamDestroy(s));
    puts("PASS");
    return 0;
}
