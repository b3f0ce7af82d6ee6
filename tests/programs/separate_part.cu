// The other translation unit of programs_separate: functions and variables that it shares.
#include <cstdio>

__device__ int shared_counter = 5;
__constant__ float shared_table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
static __device__ int hidden = 1000; // there is another one of this name

static __device__ __noinline__ int step(int x)
{
    return x * 9 + hidden;
}

__device__ int shared_function(int x)
{
    if (x == 77) printf("part %d\n", x);
    return step(x) + shared_counter;
}
