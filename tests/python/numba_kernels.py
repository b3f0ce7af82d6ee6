"""Numba: a sum of vectors, shared memory and barriers, streams and events, atomics, a reduction made
from an operator, universal functions, a barrier of the whole grid, warps, and local arrays."""
import warnings

import numpy as np
from numba import cuda, float32, guvectorize, vectorize

warnings.simplefilter("ignore")  # small grids


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def reverse(a, b):
    room = cuda.shared.array(64, dtype=float32)
    i = cuda.threadIdx.x
    room[i] = a[i]
    cuda.syncthreads()
    b[i] = room[63 - i]


@cuda.jit
def count(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


@cuda.jit
def sum_of_warp(values, result):
    value = values[cuda.threadIdx.x]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xffffffff, value, offset)
        offset //= 2
    if cuda.threadIdx.x == 0:
        result[0] = value


@cuda.jit
def neighbours(a, b):
    i = cuda.grid(1)
    a[i] = i
    cuda.cg.this_grid().sync()
    b[i] = a[(i + 32) % a.size]


@cuda.reduce
def add_up(x, y):
    return x + y


@guvectorize(["void(int64[:,:], int64[:,:], int64[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@vectorize(["float32(float32, float32)"], target="cuda")
def hypotenuse(x, y):
    return (x * x + y * y) ** 0.5


a = np.arange(1000, dtype=np.float32)
c = np.zeros_like(a)
add[4, 256](a, 2 * a, c)
assert np.array_equal(c, 3 * a)

stream, start, end = cuda.stream(), cuda.event(), cuda.event()
there = cuda.to_device(a[:64], stream=stream)
back = cuda.device_array(64, dtype=np.float32, stream=stream)
start.record(stream)
reverse[1, 64, stream](there, back)
end.record(stream)
result = back.copy_to_host(stream=stream)
stream.synchronize()
assert np.array_equal(result, a[63::-1]) and start.elapsed_time(end) > 0

values = np.random.default_rng(1).integers(0, 8, 1000).astype(np.int32)
bins = np.zeros(8, dtype=np.int32)
count[4, 256](values, bins)
assert np.array_equal(bins, np.bincount(values, minlength=8))

total = np.zeros(1, dtype=np.int32)
sum_of_warp[1, 32](np.arange(32, dtype=np.int32), total)
assert total[0] == 496

before, after = cuda.device_array(128, np.int32), cuda.device_array(128, np.int32)
neighbours[4, 32](before, after)
assert np.array_equal(after.copy_to_host(), (np.arange(128) + 32) % 128)

assert add_up(np.arange(1, 10001, dtype=np.int64)) == 50005000
m = np.arange(100, dtype=np.int64).reshape(10, 10)
assert np.array_equal(product(m, m), m @ m)
assert np.allclose(hypotenuse(3 * a, 4 * a), 5 * a)
assert np.allclose(hypotenuse(a, np.float32(0)), a)  # one element for all
print("PASSED")
