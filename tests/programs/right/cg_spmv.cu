// Right: conjugate gradients: CSR SpMV with a sub-warp per row, dot products into device scalars,
// host looks every few steps.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define check(x) check_((x), #x, __LINE__)
static void check_(cudaError_t e, const char *what, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "%d: %s: %s\n", line, what, cudaGetErrorString(e));
        exit(1);
    }
}

// scalars that live on the device
struct Scalars {
    double rr, rrNew, pAp;
};

template <int LANES>
__global__ void spmv(int n, const int *__restrict__ row, const int *__restrict__ col,
                     const double *__restrict__ val, const double *__restrict__ x,
                     double *__restrict__ y)
{
    const int lane = threadIdx.x % LANES;
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    double s = 0.0;
    if (r < n)
        for (int k = row[r] + lane; k < row[r + 1]; k += LANES) s += val[k] * x[col[k]];
    // all lanes of the warp take part, the rows beyond the end with zeros
    for (int o = LANES / 2; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o, LANES);
    if (r < n && lane == 0) y[r] = s;
}

__global__ void dot(int n, const double *a, const double *b, double *out)
{
    __shared__ double sm[128];
    double s = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += a[i] * b[i];
    sm[threadIdx.x] = s;
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        __syncthreads();
        if (threadIdx.x < k) sm[threadIdx.x] += sm[threadIdx.x + k];
    }
    if (threadIdx.x == 0) atomicAdd(out, sm[0]);
}

__global__ void updateXR(int n, double *x, double *r, const double *p, const double *Ap,
                         const Scalars *sc)
{
    const double alpha = sc->rr / sc->pAp;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += alpha * p[i];
        r[i] -= alpha * Ap[i];
    }
}

__global__ void updateP(int n, double *p, const double *r, const Scalars *sc)
{
    const double beta = sc->rrNew / sc->rr;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = r[i] + beta * p[i];
}

__global__ void roll(Scalars *sc)
{
    sc->rr = sc->rrNew;
    sc->rrNew = 0.0;
    sc->pAp = 0.0;
}

int main()
{
    // five-point Laplacian on a g x g grid with a varying diagonal
    const int g = 18, n = g * g;
    std::vector<int> row{0}, col;
    std::vector<double> val, want(n), b(n, 0.0), x(n, 0.0);
    for (int i = 0; i < n; ++i) {
        int X = i % g, Y = i / g;
        auto put = [&](int c, double v) {
            col.push_back(c);
            val.push_back(v);
        };
        if (Y > 0) put(i - g, -1.0);
        if (X > 0) put(i - 1, -1.0);
        put(i, 4.2 + 0.1 * (i % 5));
        if (X + 1 < g) put(i + 1, -1.0);
        if (Y + 1 < g) put(i + g, -1.0);
        row.push_back((int)col.size());
        want[i] = std::cos(0.37 * i) + 0.01 * i;
    }
    for (int i = 0; i < n; ++i)
        for (int k = row[i]; k < row[i + 1]; ++k) b[i] += val[k] * want[col[k]];

    int *dRow, *dCol;
    double *dVal, *dx, *dr, *dp, *dAp;
    Scalars *sc;
    check(cudaMalloc(&dRow, row.size() * sizeof(int)));
    check(cudaMalloc(&dCol, col.size() * sizeof(int)));
    check(cudaMalloc(&dVal, val.size() * sizeof(double)));
    for (double **p : {&dx, &dr, &dp, &dAp}) check(cudaMalloc(p, n * sizeof(double)));
    check(cudaMalloc(&sc, sizeof(Scalars)));
    check(cudaMemcpy(dRow, row.data(), row.size() * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dCol, col.data(), col.size() * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dVal, val.data(), val.size() * sizeof(double), cudaMemcpyHostToDevice));
    check(cudaMemset(dx, 0, n * sizeof(double)));
    check(cudaMemcpy(dr, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dp, dr, n * sizeof(double), cudaMemcpyDeviceToDevice));
    check(cudaMemset(sc, 0, sizeof(Scalars)));

    const int T = 128, B = (n + T - 1) / T;
    dot<<<B, T>>>(n, dr, dr, &sc->rr);
    check(cudaGetLastError());
    double rr0 = 0, rr = 0;
    check(cudaMemcpy(&rr0, &sc->rr, sizeof(double), cudaMemcpyDeviceToHost));
    int it = 0;
    for (rr = rr0; it < 80 && rr > 1e-20 * rr0;) {
        for (int k = 0; k < 10; ++k, ++it) {
            if (it % 2)
                spmv<8><<<(n * 8 + T - 1) / T, T>>>(n, dRow, dCol, dVal, dp, dAp);
            else
                spmv<4><<<(n * 4 + T - 1) / T, T>>>(n, dRow, dCol, dVal, dp, dAp);
            dot<<<B, T>>>(n, dp, dAp, &sc->pAp);
            updateXR<<<B, T>>>(n, dx, dr, dp, dAp, sc);
            dot<<<B, T>>>(n, dr, dr, &sc->rrNew);
            updateP<<<B, T>>>(n, dp, dr, sc);
            roll<<<1, 1>>>(sc);
        }
        check(cudaGetLastError());
        check(cudaMemcpy(&rr, &sc->rr, sizeof(double), cudaMemcpyDeviceToHost));
    }
    check(cudaMemcpy(x.data(), dx, n * sizeof(double), cudaMemcpyDeviceToHost));

    int bad = 0;
    if (!(rr <= 1e-20 * rr0)) {
        printf("no convergence: %g of %g after %d steps\n", rr, rr0, it);
        ++bad;
    }
    for (int i = 0; i < n; ++i)
        if (!(std::fabs(x[i] - want[i]) < 1e-7) && bad++ < 5)
            printf("x[%d] = %.10f, expected %.10f\n", i, x[i], want[i]);
    for (void *p : {(void *)dRow, (void *)dCol, (void *)dVal, (void *)dx, (void *)dr, (void *)dp,
                    (void *)dAp, (void *)sc})
        check(cudaFree(p));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
