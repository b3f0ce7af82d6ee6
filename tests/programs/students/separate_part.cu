// The part of separate.cu that is a file of its own.
#include "separate_part.cuh"
#include <cuda_runtime.h>

__device__ Vec Vec::operator+(Vec o) const
{
    atomicAdd(&hits, 1);
    return {x + o.x, y + o.y};
}

__device__ double Vec::norm() const
{
    return sqrt(x * x + y * y);
}

__constant__ double weights[8];
__device__ int hits;

__device__ double integrate(double (*f)(double), double a, double b, int n)
{
    double h = (b - a) / n, s = 0;
    for (int i = 0; i < n; i++) s += f(a + (i + .5) * h) * weights[i & 7];
    return s * h;
}

static __device__ double square(double x)
{
    return x * x;
}

__device__ double (*chosen)(double) = square;

static __global__ void norms(double *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = (Vec{1.0 * i, 0} + Vec{0, 2.0 * i}).norm();
}

void launch_norms(double *o, int n)
{
    norms<<<(n + 31) / 32, 32>>>(o, n);
}
