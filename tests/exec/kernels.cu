// Kernels as nvcc compiles them, for tests of the whole path from real PTX. The test program holds
// the expected results, computed by itself.

extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float k, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = k * x[i] + y[i];
}

// Every thread loops a different number of times.
extern "C" __global__ void collatz(int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = i + 1;
    int count = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void reverse_in_shared(int *data)
{
    __shared__ int tile[256];
    extern __shared__ int more[];
    int t = threadIdx.x;
    tile[t] = data[blockIdx.x * blockDim.x + t];
    __syncthreads();
    more[t] = tile[blockDim.x - 1 - t];
    __syncthreads();
    data[blockIdx.x * blockDim.x + t] = more[t] + 1000 * blockIdx.x;
}
