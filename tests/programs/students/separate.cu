// Device code in two files: a function, a variable, a constant and a function pointer of the other.
#include "separate_part.cuh"
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

__device__ double cube(double x)
{
    return x * x * x;
}

__global__ void go(double *o)
{
    o[threadIdx.x] = threadIdx.x % 2 ? integrate(cube, 0, threadIdx.x, 64)
                                     : integrate(chosen, 0, threadIdx.x, 64);
}

int main()
{
    double w[8];
    for (auto &x : w) x = 1;
    double *o;
    cudaMallocManaged(&o, 64 * 8);
    cudaMemcpyToSymbol(weights, w, sizeof w);
    go<<<1, 32>>>(o);
    cudaDeviceSynchronize();
    int bad = 0, h;
    for (int i = 0; i < 32; i++) {
        double e = i % 2 ? pow(i, 4) / 4 : pow(i, 3) / 3;
        bad += fabs(o[i] - e) > 1e-3 * (1 + e);
    }
    launch_norms(o, 64);
    cudaMemcpyFromSymbol(&h, hits, 4);
    bad += h != 64;
    for (int i = 0; i < 64; i++) bad += fabs(o[i] - i * sqrt(5.)) > 1e-9;
    cudaFree(o);
    printf("%d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad;
}
