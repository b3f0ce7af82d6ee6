"""PyTorch: an extension in CUDA C++ that is compiled when it is loaded, as courses teach kernels by,
and tensors on the device with streams and events."""
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <ATen/cuda/CUDAContext.h>

__global__ void square(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}

__global__ void total(const float *x, float *sum, int n)
{
    __shared__ float part[256];
    float mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum = part[0];
}

torch::Tensor squares_total(torch::Tensor x)
{
    auto y = torch::empty_like(x), sum = torch::empty({1}, x.options());
    int n = x.numel();
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    square<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    total<<<1, 256, 0, stream>>>(y.data_ptr<float>(), sum.data_ptr<float>(), n);
    return sum;
}
"""

module = load_inline(name="squares", cpp_sources="torch::Tensor squares_total(torch::Tensor x);",
                     cuda_sources=SOURCE, functions=["squares_total"])
x = torch.arange(1000.0) % 8
wanted = (x * x).sum()
assert torch.equal(module.squares_total(x.cuda()).cpu()[0], wanted)

stream, done = torch.cuda.Stream(), torch.cuda.Event()
pinned = x.pin_memory()
with torch.cuda.stream(stream):
    there = pinned.to("cuda", non_blocking=True)
    answer = module.squares_total(there)
    done.record()
done.synchronize()
assert torch.equal(answer.cpu()[0], wanted)
assert torch.equal(torch.zeros(8, device="cuda").cpu(), torch.zeros(8))
print("PASSED")
