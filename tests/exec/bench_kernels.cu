// Kernels for bench_exec. Every step of the first goes through memory, as in the lessons.

extern "C" __global__ void double_and_halve(volatile float *a, int n)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        for (int j = 0; j < 50; j++) {
            a[i] = a[i] * 2;
            a[i] = a[i] / 2;
        }
}

// As the teaching programs write it: the compiler keeps the value in a register.
extern "C" __global__ void double_and_halve_plain(float *a, int n)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        for (int j = 0; j < 50; j++) {
            a[i] *= 2;
            a[i] /= 2;
        }
}

extern "C" __global__ void mandelbrot(float *out, int width, int iterations)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float re = -2 + 4.0f * (i % width) / (width - 1);
    float im = 2 - 4.0f * (i / width) / (width - 1);
    float x = 0, y = 0;
    out[i] = 1;
    for (int k = 0; k < iterations; k++) {
        float t = x * x - y * y + re;
        y = 2 * x * y + im;
        x = t;
        if (x * x + y * y > 4) {
            out[i] = 0;
            break;
        }
    }
}

extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
