// Right: cuRAND's device API: three generators, normal and Poisson numbers, states kept between
// launches.
#include "tests/programs/program.cuh"

#include <cmath>
#include <curand_kernel.h>
#include <vector>
template <class S> __global__ void init(S *s, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &s[i]);
}
template <class S> __global__ void uniform(S *s, float *o, int per)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    S l = s[i];
    float sum = 0;
    for (int k = 0; k < per; k++) sum += curand_uniform(&l);
    s[i] = l;
    o[i] = sum;
}
template <class S> __global__ void normal(S *s, float *o, int per)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    S l = s[i];
    float sum = 0;
    for (int k = 0; k < per; k += 2) {
        float2 v = curand_normal2(&l);
        sum += v.x + v.y;
    }
    s[i] = l;
    o[i] = sum;
}
__global__ void poisson(curandStatePhilox4_32_10_t *s, unsigned *o)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = curand_poisson(&s[i], 4.0);
}
template <class S> static void go(const char *name)
{
    const int n = 512, per = 100;
    S *s;
    float *o;
    CHECK(cudaMalloc(&s, n * sizeof(S)));
    CHECK(cudaMalloc(&o, n * 4));
    init<<<n / 128, 128>>>(s, 1234);
    std::vector<float> h(n);
    double m = 0;
    for (int r = 0; r < 2; r++) {
        uniform<<<n / 128, 128>>>(s, o, per);
        CHECK(cudaMemcpy(h.data(), o, n * 4, cudaMemcpyDeviceToHost));
        for (float x : h) m += x;
    }
    m /= 2.0 * n * per;
    EXPECT(fabs(m - 0.5) < 0.01);
    normal<<<n / 128, 128>>>(s, o, per);
    CHECK(cudaMemcpy(h.data(), o, n * 4, cudaMemcpyDeviceToHost));
    m = 0;
    for (float x : h) m += x;
    EXPECT(fabs(m / n / per) < 0.03);
    printf("%s %.6f\n", name, m);
    CHECK(cudaFree(s));
    CHECK(cudaFree(o));
}
int main()
{
    go<curandStateXORWOW_t>("xorwow");
    go<curandStatePhilox4_32_10_t>("philox");
    go<curandStateMRG32k3a_t>("mrg");
    const int n = 1024;
    curandStatePhilox4_32_10_t *s;
    unsigned *o;
    CHECK(cudaMalloc(&s, n * sizeof *s));
    CHECK(cudaMalloc(&o, n * 4));
    init<<<n / 128, 128>>>(s, 9);
    poisson<<<n / 128, 128>>>(s, o);
    std::vector<unsigned> h(n);
    CHECK(cudaMemcpy(h.data(), o, n * 4, cudaMemcpyDeviceToHost));
    double m = 0;
    for (unsigned x : h) m += x;
    EXPECT(fabs(m / n - 4) < 0.5);
    CHECK(cudaFree(s));
    CHECK(cudaFree(o));
    puts("PASS");
    return 0;
}
