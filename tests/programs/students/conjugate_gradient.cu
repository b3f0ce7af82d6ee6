// Conjugate gradient for a 2-D Poisson problem in CSR, whole solver in one cooperative kernel and
// once more with a kernel per step; both against each other.
#include <algorithm>
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}
#define gpuErrchk(ans)                                                                             \
    {                                                                                              \
        gpuAssert((ans), __FILE__, __LINE__);                                                      \
    }

struct Csr {
    int n, *row, *column;
    double *value;
};

__device__ double row_times(const Csr &a, const double *x, int i)
{
    double sum = 0;
    for (int k = a.row[i]; k < a.row[i + 1]; k++) sum += a.value[k] * x[a.column[k]];
    return sum;
}

// ---- the whole solver as one kernel

__device__ void grid_dot(const double *a, const double *b, int n, double *result,
                         const cg::grid_group &grid, const cg::thread_block &block)
{
    __shared__ double part[32];
    double sum = 0;
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) sum += a[i] * b[i];
    auto tile = cg::tiled_partition<32>(block);
    sum = cg::reduce(tile, sum, cg::plus<double>());
    if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = sum;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        sum = tile.thread_rank() < tile.meta_group_size() ? part[tile.thread_rank()] : 0;
        sum = cg::reduce(tile, sum, cg::plus<double>());
        if (tile.thread_rank() == 0) atomicAdd(result, sum);
    }
    block.sync();
}

extern "C" __global__ void solve(Csr a, double *x, double *r, double *p, double *ap, double *dots,
                                 int most, double tolerance, int *iterations)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int k = 0;
    grid_dot(r, r, a.n, &dots[0], grid, block);
    grid.sync();
    double rr = dots[0];
    while (rr > tolerance * tolerance && k < most) {
        for (unsigned long long i = grid.thread_rank(); i < a.n; i += grid.size())
            ap[i] = row_times(a, p, i);
        if (grid.thread_rank() == 0) dots[1] = dots[2] = 0;
        grid.sync();
        grid_dot(p, ap, a.n, &dots[1], grid, block);
        grid.sync();
        double alpha = rr / dots[1];
        for (unsigned long long i = grid.thread_rank(); i < a.n; i += grid.size()) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        grid.sync();
        grid_dot(r, r, a.n, &dots[2], grid, block);
        grid.sync();
        double beta = dots[2] / rr;
        rr = dots[2];
        for (unsigned long long i = grid.thread_rank(); i < a.n; i += grid.size())
            p[i] = r[i] + beta * p[i];
        k++;
        grid.sync();
    }
    if (grid.thread_rank() == 0) *iterations = k;
}

// ---- a kernel per step

__global__ void spmv(Csr a, const double *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n) y[i] = row_times(a, x, i);
}

__global__ void dot(const double *a, const double *b, int n, double *result)
{
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int offset = warpSize / 2; offset > 0; offset >>= 1)
        sum += __shfl_xor_sync(~0u, sum, offset);
    if (threadIdx.x % warpSize == 0) atomicAdd(result, sum);
}

__global__ void axpy(double alpha, const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += alpha * x[i];
}

__global__ void xpby(const double *x, double beta, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + beta * y[i];
}

static double dot_of(const double *a, const double *b, int n, double *scratch)
{
    double result;
    gpuErrchk(cudaMemset(scratch, 0, sizeof(double)));
    dot<<<8, 128>>>(a, b, n, scratch);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaMemcpy(&result, scratch, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

int main()
{
    const int side = 18, n = side * side, most = 200, threads = 128, blocks = (n + 127) / 128;
    const double tolerance = 1e-9;
    std::vector<int> row(1, 0), column;
    std::vector<double> value, ones(n, 1.0), first(n), second(n);
    for (int i = 0; i < n; i++) {
        int x = i % side, y = i / side;
        auto add = [&](int j, double v) { column.push_back(j), value.push_back(v); };
        if (y > 0) add(i - side, -1);
        if (x > 0) add(i - 1, -1);
        add(i, 4);
        if (x < side - 1) add(i + 1, -1);
        if (y < side - 1) add(i + side, -1);
        row.push_back((int)column.size());
    }
    Csr a;
    a.n = n;
    gpuErrchk(cudaMalloc(&a.row, row.size() * sizeof(int)));
    gpuErrchk(cudaMalloc(&a.column, column.size() * sizeof(int)));
    gpuErrchk(cudaMalloc(&a.value, value.size() * sizeof(double)));
    gpuErrchk(cudaMemcpy(a.row, row.data(), row.size() * sizeof(int), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(a.column, column.data(), column.size() * sizeof(int), cudaMemcpyDefault));
    gpuErrchk(cudaMemcpy(a.value, value.data(), value.size() * sizeof(double), cudaMemcpyDefault));
    double *vectors, *dots;
    int *iterations, taken = 0, steps = 0;
    gpuErrchk(cudaMalloc(&vectors, 4 * n * sizeof(double)));
    gpuErrchk(cudaMalloc(&dots, 3 * sizeof(double)));
    gpuErrchk(cudaMalloc(&iterations, sizeof(int)));
    double *x = vectors, *r = x + n, *p = r + n, *ap = p + n;
    auto reset = [&] {
        gpuErrchk(cudaMemset(x, 0, n * sizeof(double)));
        gpuErrchk(cudaMemcpy(r, ones.data(), n * sizeof(double), cudaMemcpyHostToDevice));
        gpuErrchk(cudaMemcpy(p, r, n * sizeof(double), cudaMemcpyDeviceToDevice));
        gpuErrchk(cudaMemset(dots, 0, 3 * sizeof(double)));
    };

    int cooperative = 0, per_sm = 0;
    cudaDeviceProp prop;
    gpuErrchk(cudaGetDeviceProperties(&prop, 0));
    gpuErrchk(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    gpuErrchk(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, solve, threads, 0));
    reset();
    int most_arg = most;
    double tolerance_arg = tolerance;
    void *args[] = {&a, &x, &r, &p, &ap, &dots, &most_arg, &tolerance_arg, &iterations};
    dim3 grid(std::min(per_sm * prop.multiProcessorCount, blocks));
    if (!cooperative) return 1;
    gpuErrchk(cudaLaunchCooperativeKernel((void *)solve, grid, dim3(threads), args, 0, NULL));
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(&taken, iterations, sizeof taken, cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(first.data(), x, n * sizeof(double), cudaMemcpyDeviceToHost));

    reset();
    double rr = dot_of(r, r, n, dots);
    for (; rr > tolerance * tolerance && steps < most; steps++) {
        spmv<<<blocks, threads>>>(a, p, ap);
        double alpha = rr / dot_of(p, ap, n, dots);
        axpy<<<blocks, threads>>>(alpha, p, x, n);
        axpy<<<blocks, threads>>>(-alpha, ap, r, n);
        double next = dot_of(r, r, n, dots);
        xpby<<<blocks, threads>>>(r, next / rr, p, n);
        rr = next;
    }
    gpuErrchk(cudaMemcpy(second.data(), x, n * sizeof(double), cudaMemcpyDeviceToHost));

    double residual = 0, apart = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = row[i]; k < row[i + 1]; k++) sum += value[k] * first[column[k]];
        residual = fmax(residual, fabs(1 - sum));
        apart = fmax(apart, fabs(first[i] - second[i]));
    }
    printf("%d and %d iterations, residual %g, apart %g\n", taken, steps, residual, apart);
    gpuErrchk(cudaFree(a.row));
    gpuErrchk(cudaFree(a.column));
    gpuErrchk(cudaFree(a.value));
    gpuErrchk(cudaFree(vectors));
    gpuErrchk(cudaFree(dots));
    gpuErrchk(cudaFree(iterations));
    return taken < most && steps < most && residual < 1e-6 && apart < 1e-6 ? 0 : 1;
}
