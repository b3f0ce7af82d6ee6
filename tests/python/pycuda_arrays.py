"""PyCUDA: arrays that double themselves, sums and products, reductions, scans, a matrix product, and
an array of structs with pointers."""
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

a = np.arange(1000, dtype=np.float32)
there = gpuarray.to_gpu(a)
assert np.array_equal((2 * there).get(), 2 * a)
assert np.array_equal((there + there * there).get(), a + a * a)
assert gpuarray.sum(gpuarray.to_gpu(np.arange(1, 10001, dtype=np.int64))).get() == 50005000
assert there.get()[17:20].tolist() == there[17:20].get().tolist()

add = ElementwiseKernel("float *a, float *b, float *c", "c[i] = a[i] + b[i]", "add")
c = gpuarray.empty_like(there)
add(there, there, c)
assert np.array_equal(c.get(), 2 * a)

squares = ReductionKernel(np.float64, neutral="0", reduce_expr="a + b",
                          map_expr="(double)x[i] * x[i]", arguments="const float *x")
assert squares(there).get() == np.sum(a.astype(np.float64) ** 2)
scan = InclusiveScanKernel(np.int32, "a + b")
numbers = gpuarray.to_gpu(np.arange(500, dtype=np.int32))
scan(numbers)
assert np.array_equal(numbers.get(), np.cumsum(np.arange(500)))

module = SourceModule("""
struct pair { int length, padding; float *values; };

__global__ void twice_each(struct pair *pairs)
{
    struct pair *p = &pairs[blockIdx.x];
    for (int i = threadIdx.x; i < p->length; i += blockDim.x) p->values[i] *= 2.0f;
}

__global__ void product(const float *a, const float *b, float *c, int n)
{
    const int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
""")
first, second = np.array([1, 2, 3], dtype=np.float32), np.array([0, 4], dtype=np.float32)
values = [drv.to_device(v) for v in (first, second)]
pairs = drv.mem_alloc(2 * 16)
for k, v in enumerate((first, second)):
    fields = np.zeros(1, dtype=[("length", "i4"), ("padding", "i4"), ("values", "u8")])
    fields["length"], fields["values"] = len(v), int(values[k])
    drv.memcpy_htod(int(pairs) + 16 * k, fields)
module.get_function("twice_each")(pairs, block=(32, 1, 1), grid=(2, 1))
assert np.array_equal(drv.from_device(values[0], 3, np.float32), 2 * first)
assert np.array_equal(drv.from_device(values[1], 2, np.float32), 2 * second)

n = 5
x, y = (np.random.default_rng(k).random((n, n), dtype=np.float32) for k in range(2))
z = np.zeros_like(x)
module.get_function("product")(drv.In(x), drv.In(y), drv.Out(z), np.int32(n), block=(n, n, 1))
assert np.allclose(z, x @ y, atol=1e-5)
print("PASSED")
