// Right: LU factorisation with partial pivoting, one small kernel per step, pivot kept on the
// device, triangular solves.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <numeric>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorString(e));            \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

// A is stored by columns: A[c * n + r]
#define AT(r, c) A[(c)*n + (r)]

__global__ void findPivot(const double *A, int n, int k, int *piv)
{
    __shared__ double bestV[64];
    __shared__ int bestR[64];
    double v = -1.0;
    int r = k;
    for (int i = k + threadIdx.x; i < n; i += blockDim.x)
        if (fabs(AT(i, k)) > v) {
            v = fabs(AT(i, k));
            r = i;
        }
    bestV[threadIdx.x] = v;
    bestR[threadIdx.x] = r;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            double w = bestV[threadIdx.x + s];
            int q = bestR[threadIdx.x + s];
            if (w > bestV[threadIdx.x] || (w == bestV[threadIdx.x] && q < bestR[threadIdx.x])) {
                bestV[threadIdx.x] = w;
                bestR[threadIdx.x] = q;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) piv[k] = bestR[0];
}

__global__ void swapRows(double *A, int n, int k, const int *piv)
{
    int p = piv[k];
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < n && p != k) {
        double t = AT(k, c);
        AT(k, c) = AT(p, c);
        AT(p, c) = t;
    }
}

__global__ void scaleColumn(double *A, int n, int k)
{
    int r = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) AT(r, k) /= AT(k, k);
}

__global__ void update(double *A, int n, int k)
{
    int r = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int c = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (r < n && c < n) AT(r, c) -= AT(r, k) * AT(k, c);
}

// forward and backward substitution of one right hand side per block, threads share the updates
__global__ void solve(const double *A, int n, const int *piv, double *B)
{
    extern __shared__ double x[];
    double *b = B + (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = b[i];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < n; ++k) {
            double t = x[k];
            x[k] = x[piv[k]];
            x[piv[k]] = t;
        }
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        double xk = x[k];
        for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) x[i] -= AT(i, k) * xk;
        __syncthreads();
    }
    for (int k = n - 1; k >= 0; --k) {
        double xk = x[k] / AT(k, k);
        __syncthreads(); // everybody has read x[k]
        if (threadIdx.x == 0) x[k] = xk;
        for (int i = threadIdx.x; i < k; i += blockDim.x) x[i] -= AT(i, k) * xk;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) b[i] = x[i];
}

int main()
{
    const int n = 45, rhs = 3;
    std::vector<double> M(n * n), lu(n * n), want(n * rhs), b(n * rhs, 0.0), x(n * rhs);
    unsigned s = 2024;
    auto rnd = [&] {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        return s / 4294967296.0 - 0.5;
    };
    for (auto &v : M) v = rnd();
    for (int i = 0; i < n; i += 4) M[i * n + i] = 0.0; // makes pivoting necessary
    for (auto &v : want) v = 10.0 * rnd();
    for (int q = 0; q < rhs; ++q)
        for (int c = 0; c < n; ++c)
            for (int r = 0; r < n; ++r) b[q * n + r] += M[c * n + r] * want[q * n + c];

    double *A, *dB;
    int *piv;
    CK(cudaMalloc(&A, n * n * sizeof(double)));
    CK(cudaMalloc(&dB, n * rhs * sizeof(double)));
    CK(cudaMalloc(&piv, n * sizeof(int)));
    CK(cudaMemcpy(A, M.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dB, b.data(), n * rhs * sizeof(double), cudaMemcpyHostToDevice));

    for (int k = 0; k < n; ++k) {
        findPivot<<<1, 64>>>(A, n, k, piv);
        swapRows<<<1, 64>>>(A, n, k, piv);
        int rest = n - k - 1;
        if (rest > 0) {
            scaleColumn<<<(rest + 31) / 32, 32>>>(A, n, k);
            update<<<dim3((rest + 15) / 16, (rest + 3) / 4), dim3(16, 4)>>>(A, n, k);
        }
        CK(cudaGetLastError());
    }
    solve<<<rhs, 32, n * sizeof(double)>>>(A, n, piv, dB);
    CK(cudaGetLastError());

    std::vector<int> p(n), perm(n);
    CK(cudaMemcpy(lu.data(), A, n * n * sizeof(double), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(p.data(), piv, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(x.data(), dB, n * rhs * sizeof(double), cudaMemcpyDeviceToHost));

    // P A = L U
    std::iota(perm.begin(), perm.end(), 0);
    for (int k = 0; k < n; ++k) {
        if (p[k] < k || p[k] >= n) {
            printf("pivot %d is row %d\n", k, p[k]);
            return 1;
        }
        std::swap(perm[k], perm[p[k]]);
    }
    int bad = 0;
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
            double v = 0;
            for (int k = 0; k <= std::min(r, c); ++k)
                v += (k == r ? 1.0 : lu[k * n + r]) * lu[c * n + k];
            if (!(std::fabs(v - M[c * n + perm[r]]) < 1e-10) && bad++ < 4)
                printf("(LU)(%d,%d) = %g, expected %g\n", r, c, v, M[c * n + perm[r]]);
            if (r > c && !(std::fabs(lu[c * n + r]) <= 1.0 + 1e-12) && bad++ < 6)
                printf("multiplier (%d,%d) = %g\n", r, c, lu[c * n + r]);
        }
    for (int i = 0; i < n * rhs; ++i)
        if (!(std::fabs(x[i] - want[i]) < 1e-6) && bad++ < 10)
            printf("x[%d] = %g, expected %g\n", i, x[i], want[i]);
    CK(cudaFree(A));
    CK(cudaFree(dB));
    CK(cudaFree(piv));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
