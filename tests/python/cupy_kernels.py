"""CuPy: raw, elementwise and reduction kernels, its own functions of arrays and those of Thrust and
CUB inside it, random numbers, streams and events."""
import cupy as cp
import numpy as np

add = cp.RawKernel(r"""
extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}""", "add")
a = cp.arange(1000, dtype=cp.float32)
b, c = 2 * a, cp.zeros_like(a)
add((4,), (256,), (a, b, c, np.int32(1000)))
assert bool((c == 3 * a).all())

difference = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)",
                                  "squared_difference")
assert np.array_equal(cp.asnumpy(difference(a, b)), cp.asnumpy(a) ** 2)
length = cp.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = sqrt(a)", "0", "length")
assert abs(float(length(a[:3])) - 5 ** 0.5) < 1e-6
assert int(cp.arange(1, 10001, dtype=cp.int64).sum()) == 50005000
assert float(a.max()) == 999 and int(a.argmax()) == 999
assert np.array_equal(cp.asnumpy(cp.where(a > 500, a, 0)), np.where(np.arange(1000) > 500,
                                                                    np.arange(1000), 0))

numbers = np.random.default_rng(1).integers(-1000, 1000, 20000).astype(np.int32)
there = cp.asarray(numbers)
assert np.array_equal(cp.asnumpy(cp.sort(there)), np.sort(numbers))
assert np.array_equal(cp.asnumpy(cp.argsort(there)), np.argsort(numbers, kind="stable"))
assert np.array_equal(cp.asnumpy(cp.unique(there)), np.unique(numbers))
assert np.array_equal(cp.asnumpy(cp.cumsum(there)), np.cumsum(numbers))
assert np.array_equal(cp.asnumpy(cp.histogram(there, 16)[0]), np.histogram(numbers, 16)[0])
assert abs(float(cp.random.default_rng(1).standard_normal(10000).mean())) < 0.05

stream, start, end = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(), cp.cuda.Event()
cp.cuda.Stream.null.synchronize()
with stream:
    start.record()
    d = a * 2
    end.record()
stream.synchronize()
assert cp.cuda.get_elapsed_time(start, end) > 0
assert np.array_equal(cp.asnumpy(d, stream=stream), 2 * np.arange(1000))
print("PASSED")
