// Device code for the runtime's tests, taken as a bare fat binary: registered, launched and linked
// by hand, as the compiler's host code would.
extern "C" {
__device__ int runtime_variable_a = 11;
__constant__ int runtime_constant[3] = {1, 2, 3};

__global__ void runtime_add(int *x, int value)
{
    x[threadIdx.x] += value + runtime_variable_a;
}

__global__ void runtime_bounded(int *x)
{
    x[threadIdx.x] = runtime_constant[threadIdx.x % 3];
}
}
