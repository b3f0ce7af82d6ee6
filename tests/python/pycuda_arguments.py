"""PyCUDA: a kernel of a SourceModule, with the argument handlers, with memory of its own, with a
prepared call, and told piece by piece as before CUDA 4."""
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__constant__ float factor;
__global__ void multiply(float *to, const float *a, const float *b)
{
    const int i = threadIdx.x;
    to[i] = a[i] * b[i];
}
__global__ void scale(float *values)
{
    extern __shared__ float room[];
    room[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = factor * room[blockDim.x - 1 - threadIdx.x];
}
""")
multiply = module.get_function("multiply")
scale = module.get_function("scale")
a = np.arange(400, dtype=np.float32)
b = np.float32(0.5) * a
wanted = a * b

to = np.zeros_like(a)
multiply(drv.Out(to), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
assert np.array_equal(to, wanted)

a_gpu, b_gpu, to_gpu = (drv.mem_alloc(a.nbytes) for _ in range(3))
drv.memcpy_htod(a_gpu, a)
drv.memcpy_htod(b_gpu, b)
multiply(to_gpu, a_gpu, b_gpu, block=(400, 1, 1))
to[:] = 0
drv.memcpy_dtoh(to, to_gpu)
assert np.array_equal(to, wanted)

multiply.prepare("PPP")
drv.memset_d32(to_gpu, 0, 400)
multiply.prepared_call((1, 1), (400, 1, 1), to_gpu, a_gpu, b_gpu)
drv.memcpy_dtoh(to, to_gpu)
assert np.array_equal(to, wanted)

address, size = module.get_global("factor")
assert size == 4
drv.memcpy_htod(address, np.float32(3))
values = a.copy()
scale(drv.InOut(values), block=(400, 1, 1), shared=4 * 400)
assert np.array_equal(values, 3 * a[::-1])
assert multiply.num_regs > 0 and scale.shared_size_bytes == 0
print("PASSED")
