// What the kernels of racecheck_test.c have in common.
#ifndef OVERLAP_TESTS_EXEC_RACECHECK_CUH
#define OVERLAP_TESTS_EXEC_RACECHECK_CUH

#define KERNEL extern "C" __global__ void

__device__ int index()
{
    return threadIdx.x + blockIdx.x * blockDim.x;
}

// Longer than a warp's turn.
__device__ int wait_a_while(int seed)
{
    for (int k = 0; k < 100000; k++) asm volatile("mad.lo.s32 %0, %0, 3, 1;" : "+r"(seed));
    return seed;
}

#endif
