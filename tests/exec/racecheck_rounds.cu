// Kernels for racecheck_test.c as in racecheck_kernels.cu, of barriers in loops that not all
// threads of a block go round alike.

#include "racecheck.cuh"

KERNEL right_round_left_early(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    for (int round = 0; round < 4; round++) {
        tile[threadIdx.x] = in[index()] + round;
        __syncthreads();
        out[index()] = tile[127 - threadIdx.x];
        __syncthreads();
        if (threadIdx.x % 3 == 0 && round == 1) break;
        if (threadIdx.x % 3 == 1 && round == 2) return;
    }
}

KERNEL round_past_a_barrier(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    int sum = 0;
    for (int round = 0; round < n % 7 + 3; round++) {
        tile[threadIdx.x] = in[index()] + round; // round_past_a_barrier
        if (threadIdx.x < 40) {
            __syncthreads();
            sum += tile[127 - threadIdx.x]; // round_past_a_barrier
            __syncthreads();
        }
    }
    out[index()] = sum;
}
