// Right: the program's own kernel works on a vector of Thrust's, which frees it without a wait.
// Advice: wait that nobody promises
#include <cstdio>
#include <thrust/device_vector.h>

static __global__ void fill_vector(int *numbers)
{
    numbers[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    thrust::device_vector<int> numbers(256);
    fill_vector<<<1, 256>>>(thrust::raw_pointer_cast(numbers.data()));
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
