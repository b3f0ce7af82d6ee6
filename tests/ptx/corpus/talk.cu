// printf, assert, malloc, traps, clocks: calls to what the driver provides.
#include <cassert>
#include <cstdio>

__global__ void talk(int n, float *f, long long *when)
{
    when[0] = clock64() + clock();
    printf("thread %d of %d: %f %s\n", threadIdx.x, n, f[0], "and a string");
    assert(n > 0 && "there is work");
    int *list = (int *)malloc(n * sizeof(int));
    if (!list) __trap();
    for (int i = 0; i < n; i++) list[i] = i;
    f[1] = list[n - 1];
    free(list);
    if (n == 12345) asm volatile("brkpt;");
    __nanosleep(100);
}
