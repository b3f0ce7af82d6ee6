// Wrong: the sum of squares of a row of 128 elements by 4 warps in 2 slots: warps 2 and 3 store
// over what warps 0 and 1 have stored. The lanes of a warp differ in their last bit as in
// right/row_of_fewer_warps.cu, and that is not what is wrong here.
// Found: shared memory race
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int COLUMNS = 128, ROWS = 6, THREADS = 128, WARP = 32;

__global__ void root_mean_square(const float *x, float *y)
{
    __shared__ float part[COLUMNS / WARP / 2];
    const float mine = x[blockIdx.x * COLUMNS + threadIdx.x % COLUMNS];
    float sum = fmaf(mine, mine, __shfl_xor_sync(0xffffffff, __fmul_rn(mine, mine), WARP / 2));
    for (int step = WARP / 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    part[threadIdx.x / WARP % 2] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = sqrtf((part[0] + part[1]) / COLUMNS);
}

int main()
{
    static float x[ROWS * COLUMNS], y[ROWS];
    float *device_x, *device_y;
    for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = sinf((float)i) * 1.7f;
    if (cudaMalloc(&device_x, sizeof x) != cudaSuccess) return 1;
    if (cudaMalloc(&device_y, sizeof y) != cudaSuccess) return 1;
    if (cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
    root_mean_square<<<ROWS, THREADS>>>(device_x, device_y);
    if (cudaGetLastError() != cudaSuccess) return 1;
    if (cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    int right = 0;
    for (int row = 0; row < ROWS; row++) {
        double sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            sum += (double)x[row * COLUMNS + i] * x[row * COLUMNS + i];
        right += fabs(y[row] - sqrt(sum / COLUMNS)) < 1e-5;
    }
    cudaFree(device_x);
    cudaFree(device_y);
    puts(right == ROWS ? "PASSED" : "FAILED");
    return right != ROWS;
}
