// What launches that cannot be are answered with, by every way of launching: <<<...>>>,
// cudaLaunchKernel, cudaLaunchKernelEx, cuLaunchKernel, cudaLaunchCooperativeKernel.
//
// launches.golden is what an NVIDIA H100 (driver 580, CUDA 13.0) printed; CTest compares the
// software device's answers with it, line by line. To ask a GPU again, on a machine that has one:
//
//     nvcc -cudart shared -gencode arch=compute_75,code=compute_75 launches.cu -o launches -lcuda
//     ./launches >launches.golden
//
// Every line follows from the documented limits of all devices of compute capability 7.5 and more,
// so that other GPUs must print the same.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void plain(int *x)
{
    if (x != nullptr) x[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(64) bounded(int *x)
{
    if (x != nullptr) x[threadIdx.x] = 1;
}

static void show(const char *way, cudaError_t answer)
{
    cudaError_t last = cudaGetLastError();
    std::printf("  %-32s %-36s last error %s\n", way, cudaGetErrorName(answer),
                cudaGetErrorName(last));
}

static const struct shape {
    const char *name;
    dim3 grid, block;
    size_t shared_bytes;
} shapes[] = {
    {"grid 0", dim3(0), dim3(32), 0},
    {"grid 1 x 0", dim3(1, 0), dim3(32), 0},
    {"grid 1 x 70000", dim3(1, 70000), dim3(32), 0},
    {"grid 1 x 1 x 70000", dim3(1, 1, 70000), dim3(32), 0},
    {"grid 2^31", dim3(1u << 31), dim3(32), 0},
    {"block 0", dim3(1), dim3(0), 0},
    {"block 1025", dim3(1), dim3(1025), 0},
    {"block 4096", dim3(1), dim3(4096), 0},
    {"block 1 x 1 x 65", dim3(1), dim3(1, 1, 65), 0},
    {"block 32 x 8 x 8", dim3(1), dim3(32, 8, 8), 0},
    {"50,000 bytes of shared memory", dim3(1), dim3(32), 50000},
    {"1 MiB of shared memory", dim3(1), dim3(32), 1 << 20},
};

static void ask(const shape &s)
{
    int *x = nullptr;
    void *arguments[] = {&x};
    const void *symbol = reinterpret_cast<const void *>(plain);
    cudaFunction_t function = nullptr;
    const char *name = "";

    std::printf("%s\n", s.name);
    show("cudaLaunchKernel",
         cudaLaunchKernel(symbol, s.grid, s.block, arguments, s.shared_bytes, nullptr));
    plain<<<s.grid, s.block, s.shared_bytes>>>(x);
    show("<<<>>>", cudaPeekAtLastError());
    cudaLaunchConfig_t config = {};
    config.gridDim = s.grid;
    config.blockDim = s.block;
    config.dynamicSmemBytes = s.shared_bytes;
    show("cudaLaunchKernelEx", cudaLaunchKernelEx(&config, plain, x));
    show("cudaLaunchCooperativeKernel",
         cudaLaunchCooperativeKernel(symbol, s.grid, s.block, arguments, s.shared_bytes, nullptr));
    cudaGetFuncBySymbol(&function, symbol);
    CUresult answer =
        cuLaunchKernel(function, s.grid.x, s.grid.y, s.grid.z, s.block.x, s.block.y, s.block.z,
                       static_cast<unsigned>(s.shared_bytes), nullptr, arguments, nullptr);
    cuGetErrorName(answer, &name);
    std::printf("  %-32s %s\n", "cuLaunchKernel", name);
}

int main()
{
    int *x = nullptr;
    void *arguments[] = {&x};
    for (const shape &s : shapes) ask(s);

    std::printf("__launch_bounds__(64), block 128\n");
    show("cudaLaunchKernel", cudaLaunchKernel(reinterpret_cast<const void *>(bounded), dim3(1),
                                              dim3(128), arguments, 0, nullptr));
    bounded<<<1, 128>>>(x);
    show("<<<>>>", cudaPeekAtLastError());

    std::printf("2^20 blocks\n"); // a cooperative grid must be resident as a whole
    show("cudaLaunchCooperativeKernel",
         cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(plain), dim3(1 << 20), dim3(32),
                                     arguments, 0, nullptr));

    std::printf("after all of that\n");
    show("cudaDeviceSynchronize", cudaDeviceSynchronize());
}
