// Right: power iteration in one cooperative launch, grid.sync between the phases, tiled_partition
// and cg::reduce inside.
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace cg = cooperative_groups;

#define checkCudaErrors(v)                                                                         \
    do {                                                                                           \
        cudaError_t r = (v);                                                                       \
        if (r != cudaSuccess) {                                                                    \
            fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", __FILE__, __LINE__,        \
                    (int)r, cudaGetErrorName(r), #v);                                              \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

// y = A x, one 16-lane tile per row; norm2[it] accumulates |y|^2
__global__ void powerIteration(const float *A, float *x, float *y, double *norm2, float *lambda,
                               int n, int iters)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    const int tilesPerBlock = block.size() / 16;
    const int tileId = grid.block_rank() * tilesPerBlock + tile.meta_group_rank();
    const int tileCount = grid.num_blocks() * tilesPerBlock;
    __shared__ double partial;

    for (int it = 0; it < iters; ++it) {
        if (block.thread_rank() == 0) partial = 0.0;
        block.sync();
        for (int row = tileId; row < n; row += tileCount) {
            float acc = 0.0f;
            for (int c = tile.thread_rank(); c < n; c += tile.size()) acc += A[row * n + c] * x[c];
            acc = cg::reduce(tile, acc, cg::plus<float>());
            if (tile.thread_rank() == 0) {
                y[row] = acc;
                atomicAdd(&partial, (double)acc * acc);
            }
        }
        block.sync();
        if (block.thread_rank() == 0) atomicAdd(&norm2[it], partial);
        grid.sync(); // every y and the norm are there

        const float len = (float)sqrt(norm2[it]);
        for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] = y[i] / len;
        if (grid.thread_rank() == 0) *lambda = len;
        grid.sync(); // x is complete before the next product
    }
}

int main()
{
    int dev = 0, coop = 0, sms = 0;
    checkCudaErrors(cudaGetDevice(&dev));
    checkCudaErrors(cudaDeviceGetAttribute(&coop, cudaDevAttrCooperativeLaunch, dev));
    checkCudaErrors(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, dev));
    if (!coop) {
        printf("no cooperative launch here\nPASS\n");
        return 0;
    }

    int n = 96, iters = 25;
    const int threads = 128;
    int perSm = 0;
    checkCudaErrors(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, powerIteration, threads, 0));
    int blocks = (n + threads / 16 - 1) / (threads / 16);
    if (blocks > perSm * sms) blocks = perSm * sms;

    // symmetric matrix with a known dominant eigenpair: 20 * u u^T + small diagonal
    std::vector<float> u(n), A(n * n), x(n, 1.0f);
    double un = 0;
    for (int i = 0; i < n; ++i) {
        u[i] = 1.0f + 0.5f * sinf(0.3f * i);
        un += (double)u[i] * u[i];
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            A[i * n + j] = (float)(20.0 * u[i] * u[j] / un) + (i == j ? 0.5f : 0.0f);

    float *dA, *dx, *dy, *dl;
    double *dn;
    checkCudaErrors(cudaMalloc(&dA, n * n * sizeof(float)));
    checkCudaErrors(cudaMalloc(&dx, n * sizeof(float)));
    checkCudaErrors(cudaMalloc(&dy, n * sizeof(float)));
    checkCudaErrors(cudaMalloc(&dl, sizeof(float)));
    checkCudaErrors(cudaMalloc(&dn, iters * sizeof(double)));
    checkCudaErrors(cudaMemcpy(dA, A.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemset(dn, 0, iters * sizeof(double)));

    void *args[] = {&dA, &dx, &dy, &dn, &dl, &n, &iters};
    checkCudaErrors(cudaLaunchCooperativeKernel((void *)powerIteration, dim3(blocks), dim3(threads),
                                                args, 0, 0));
    checkCudaErrors(cudaDeviceSynchronize());

    float lambda = 0;
    checkCudaErrors(cudaMemcpy(&lambda, dl, sizeof(float), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(x.data(), dx, n * sizeof(float), cudaMemcpyDeviceToHost));

    bool ok = std::fabs(lambda - 20.5f) < 1e-2f;
    if (!ok) printf("lambda = %f, expected 20.5\n", lambda);
    for (int i = 0; i < n; ++i) {
        float want = u[i] / (float)std::sqrt(un);
        if (std::fabs(x[i] - want) > 1e-3f) {
            printf("eigenvector[%d] = %f, expected %f\n", i, x[i], want);
            ok = false;
            break;
        }
    }
    checkCudaErrors(cudaFree(dA));
    checkCudaErrors(cudaFree(dx));
    checkCudaErrors(cudaFree(dy));
    checkCudaErrors(cudaFree(dl));
    checkCudaErrors(cudaFree(dn));
    if (!ok) return EXIT_FAILURE;
    printf("PASS\n");
    return 0;
}
