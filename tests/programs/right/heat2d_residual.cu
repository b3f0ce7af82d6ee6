// Right: 2D heat equation, Jacobi steps with halo tiles, residual by block reduction and atomicMax,
// host loop stops on it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))
static void HandleError(cudaError_t err, const char *file, int line)
{
    if (err != cudaSuccess) {
        printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
        exit(EXIT_FAILURE);
    }
}

#define BX 16
#define BY 8

__global__ void jacobi(const float *u, float *v, const float *src, int nx, int ny, float h2,
                       unsigned int *maxDiff)
{
    __shared__ float t[BY + 2][BX + 2];
    __shared__ float red[BX * BY];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int tid = threadIdx.y * BX + threadIdx.x;

    // the tile with its halo; positions beyond the grid repeat the edge
    for (int k = tid; k < (BX + 2) * (BY + 2); k += BX * BY) {
        int gx = (int)(blockIdx.x * BX) + k % (BX + 2) - 1;
        int gy = (int)(blockIdx.y * BY) + k / (BX + 2) - 1;
        gx = min(max(gx, 0), nx - 1);
        gy = min(max(gy, 0), ny - 1);
        t[k / (BX + 2)][k % (BX + 2)] = u[gy * nx + gx];
    }
    __syncthreads();

    float diff = 0.0f;
    if (x < nx && y < ny) {
        float old = t[threadIdx.y + 1][threadIdx.x + 1], now = old;
        if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
            now = 0.25f * (t[threadIdx.y][threadIdx.x + 1] + t[threadIdx.y + 2][threadIdx.x + 1] +
                           t[threadIdx.y + 1][threadIdx.x] + t[threadIdx.y + 1][threadIdx.x + 2] +
                           h2 * src[y * nx + x]);
        }
        v[y * nx + x] = now;
        diff = fabsf(now - old);
    }
    if (maxDiff == nullptr) return; // the same for all threads

    red[tid] = diff;
    __syncthreads();
    for (int s = BX * BY / 2; s > 0; s >>= 1) {
        if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
        __syncthreads();
    }
    // non-negative floats compare like their bit patterns
    if (tid == 0) atomicMax(maxDiff, __float_as_uint(red[0]));
}

int main(void)
{
    const int nx = 50, ny = 37, maxIter = 160, every = 20;
    const float h2 = 1.0f / (49.0f * 49.0f), tol = 2.0e-3f;
    const size_t bytes = nx * ny * sizeof(float);

    std::vector<float> init(nx * ny, 0.0f), src(nx * ny), got(nx * ny);
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
            src[y * nx + x] = (x > 20 && x < 30 && y > 10 && y < 25) ? 300.0f : 0.0f;
            if (y == 0) init[x] = 10.0f * sinf(3.14159265f * x / (nx - 1));
            if (x == 0) init[y * nx] = 5.0f;
        }

    float *a, *b, *dsrc;
    unsigned int *dmax, *hmax;
    HANDLE_ERROR(cudaMalloc((void **)&a, bytes));
    HANDLE_ERROR(cudaMalloc((void **)&b, bytes));
    HANDLE_ERROR(cudaMalloc((void **)&dsrc, bytes));
    HANDLE_ERROR(cudaMalloc((void **)&dmax, sizeof(unsigned int)));
    HANDLE_ERROR(cudaHostAlloc((void **)&hmax, sizeof(unsigned int), cudaHostAllocDefault));
    cudaStream_t stream;
    HANDLE_ERROR(cudaStreamCreate(&stream));
    HANDLE_ERROR(cudaMemcpyAsync(a, init.data(), bytes, cudaMemcpyHostToDevice, stream));
    HANDLE_ERROR(cudaMemcpyAsync(dsrc, src.data(), bytes, cudaMemcpyHostToDevice, stream));

    dim3 block(BX, BY), grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    int it = 0;
    float residual = 1.0e30f;
    while (it < maxIter && residual > tol) {
        bool check = (it + 1) % every == 0;
        if (check) HANDLE_ERROR(cudaMemsetAsync(dmax, 0, sizeof(unsigned int), stream));
        jacobi<<<grid, block, 0, stream>>>(a, b, dsrc, nx, ny, h2, check ? dmax : nullptr);
        HANDLE_ERROR(cudaGetLastError());
        float *tmp = a;
        a = b;
        b = tmp;
        ++it;
        if (check) {
            HANDLE_ERROR(
                cudaMemcpyAsync(hmax, dmax, sizeof(unsigned int), cudaMemcpyDeviceToHost, stream));
            HANDLE_ERROR(cudaStreamSynchronize(stream));
            union {
                unsigned int u;
                float f;
            } bits;
            bits.u = *hmax;
            residual = bits.f;
        }
    }
    HANDLE_ERROR(cudaMemcpyAsync(got.data(), a, bytes, cudaMemcpyDeviceToHost, stream));
    HANDLE_ERROR(cudaStreamSynchronize(stream));

    // the same number of steps on the host
    std::vector<float> p = init, q = init;
    float ref = 0.0f;
    for (int k = 0; k < it; ++k) {
        ref = 0.0f;
        for (int y = 1; y < ny - 1; ++y)
            for (int x = 1; x < nx - 1; ++x) {
                q[y * nx + x] =
                    0.25f * (p[(y - 1) * nx + x] + p[(y + 1) * nx + x] + p[y * nx + x - 1] +
                             p[y * nx + x + 1] + h2 * src[y * nx + x]);
                ref = fmaxf(ref, fabsf(q[y * nx + x] - p[y * nx + x]));
            }
        p.swap(q);
    }
    int bad = 0;
    for (int i = 0; i < nx * ny; ++i)
        if (!(fabsf(got[i] - p[i]) < 1e-3f) && bad++ < 5)
            printf("(%d,%d): %f, expected %f\n", i % nx, i / nx, got[i], p[i]);
    if (fabsf(ref - residual) > 1e-4f) {
        printf("residual %g after %d steps, expected %g\n", residual, it, ref);
        ++bad;
    }
    HANDLE_ERROR(cudaFree(a));
    HANDLE_ERROR(cudaFree(b));
    HANDLE_ERROR(cudaFree(dsrc));
    HANDLE_ERROR(cudaFree(dmax));
    HANDLE_ERROR(cudaFreeHost(hmax));
    HANDLE_ERROR(cudaStreamDestroy(stream));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
