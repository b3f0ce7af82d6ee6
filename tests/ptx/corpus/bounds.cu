// Launch bounds, weak and extern symbols, templates with long names, 2-D arrays, unused parameters.
__global__ void __launch_bounds__(128, 4) bounded(int *p)
{
    p[threadIdx.x] += 1;
}
__global__ void __launch_bounds__(256) simply(int *p, int, float, char)
{
    *p = blockDim.x;
}
template <int N, class... T> __global__ void variadic(int *p, T... values)
{
    int all[] = {(int)values..., N};
    p[N] = all[p[0] & 1];
}
template __global__ void variadic<3, float, double, char>(int *, float, double, char);
namespace
{
__device__ int hidden[2][3] = {{1, 2, 3}, {4, 5, 6}};
}
__device__ __noinline__ void swap_in_place(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}
__global__ void uses(int *p, uint3 three, char4 four)
{
    swap_in_place(&hidden[p[0] & 1][p[1] % 3], p + three.y + four.z);
    static __shared__ int once;
    once = p[2];
    __syncthreads();
    p[3] = once;
}
