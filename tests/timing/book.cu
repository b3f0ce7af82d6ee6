/* The kernels of the book's table (docs/book.md), each timed between two events at the size at
 * which a GPU grades it: a line each, name, microseconds. book.sh builds it with the lessons'
 * solutions. */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* lessons/08_life, 09_honest_timing and 12_matmul */
extern "C" cudaError_t life_block(int *cells, int width, int height, int generations,
                                  cudaStream_t stream);
extern "C" cudaError_t life_shared(int *cells, int width, int height, int generations,
                                   cudaStream_t stream);
extern "C" cudaError_t timing_add(const float *a, const float *b, float *c, size_t n,
                                  cudaStream_t stream);
extern "C" cudaError_t matmul_naive(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream);
extern "C" cudaError_t matmul_tiled(const float *a, const float *b, float *c, int m, int n, int p,
                                    cudaStream_t stream);

namespace
{

constexpr int SIDE = 32, GENERATIONS = 4000;
constexpr size_t FLOATS = 10000000;
constexpr int M = 512, N = 1024, P = 512;

void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "book: %s\n", cudaGetErrorString(error));
    exit(1);
}

/* The second of two calls: the first one loads the kernel. */
template <typename Call> void show(const char *name, Call call)
{
    cudaEvent_t begin, end;
    float ms = 0;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) {
        check(cudaEventRecord(begin));
        check(call());
        check(cudaEventRecord(end));
        check(cudaDeviceSynchronize());
    }
    check(cudaEventElapsedTime(&ms, begin, end));
    printf("%s\t%.1f\n", name, (double)ms * 1e3);
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
}

template <typename T> T *zeros(size_t count)
{
    T *memory = nullptr;
    check(cudaMalloc((void **)&memory, count * sizeof(T)));
    check(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

} // namespace

int main()
{
    int *cells = zeros<int>(SIDE * SIDE);
    float *a = zeros<float>(FLOATS), *b = zeros<float>(FLOATS), *c = zeros<float>(FLOATS);

    show("Life, 32 x 32, 4000 generations, global memory",
         [=] { return life_block(cells, SIDE, SIDE, GENERATIONS, nullptr); });
    show("Life, 32 x 32, 4000 generations, shared memory",
         [=] { return life_shared(cells, SIDE, SIDE, GENERATIONS, nullptr); });
    show("c = a + b, 10^7 floats", [=] { return timing_add(a, b, c, FLOATS, nullptr); });
    float *left = zeros<float>(M * N), *right = zeros<float>(N * P), *product = zeros<float>(M * P);
    show("product, 512 x 1024 by 1024 x 512, naive",
         [=] { return matmul_naive(left, right, product, M, N, P, nullptr); });
    show("product, 512 x 1024 by 1024 x 512, in tiles",
         [=] { return matmul_tiled(left, right, product, M, N, P, nullptr); });
    return 0;
}
