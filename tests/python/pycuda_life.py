"""PyCUDA: Conway's Game of Life on a torus: one launch per step, in one block with barriers, in
shared memory, and several lattices with a stream each; against NumPy's."""
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
#define X (threadIdx.x + blockIdx.x * blockDim.x)
#define Y (threadIdx.y + blockIdx.y * blockDim.y)
#define WIDTH (blockDim.x * gridDim.x)
#define HEIGHT (blockDim.y * gridDim.y)
#define AT(x, y) (((x) + WIDTH) % WIDTH + ((y) + HEIGHT) % HEIGHT * WIDTH)

__device__ int lives(const int *in, int x, int y)
{
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0) n += in[AT(x + dx, y + dy)];
    return n == 3 || (n == 2 && in[AT(x, y)] == 1);
}

__global__ void step(int *out, const int *in) { out[AT(X, Y)] = lives(in, X, Y); }

__global__ void steps(int *lattice, int count)
{
    for (int k = 0; k < count; k++) {
        const int next = lives(lattice, X, Y);
        __syncthreads();
        lattice[AT(X, Y)] = next;
        __syncthreads();
    }
}

__global__ void steps_shared(int *lattice, int count)
{
    __shared__ int room[32 * 32];
    room[AT(X, Y)] = lattice[AT(X, Y)];
    __syncthreads();
    for (int k = 0; k < count; k++) {
        const int next = lives(room, X, Y);
        __syncthreads();
        room[AT(X, Y)] = next;
        __syncthreads();
    }
    lattice[AT(X, Y)] = room[AT(X, Y)];
}
""")
step, steps, steps_shared = (module.get_function(n) for n in ("step", "steps", "steps_shared"))
chance = np.random.default_rng(1)


def draw(side):
    return (chance.random((side, side)) < 0.25).astype(np.int32)


def reference(lattice, count):
    for _ in range(count):
        n = sum(np.roll(lattice, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
        n = n - lattice
        lattice = ((n == 3) | ((n == 2) & (lattice == 1))).astype(np.int32)
    return lattice


start = draw(128)
now, after = gpuarray.to_gpu(start), gpuarray.empty(start.shape, np.int32)
for _ in range(5):
    step(after, now, grid=(4, 4), block=(32, 32, 1))
    now, after = after, now
assert np.array_equal(now.get(), reference(start, 5))

for function in steps, steps_shared:
    start = draw(32)
    lattice = gpuarray.to_gpu(start)
    function(lattice, np.int32(20), grid=(1, 1), block=(32, 32, 1))
    assert np.array_equal(lattice.get(), reference(start, 20))

starts = [draw(64) for _ in range(4)]
streams = [drv.Stream() for _ in starts]
pairs = [[gpuarray.to_gpu(s), gpuarray.empty(s.shape, np.int32)] for s in starts]
for _ in range(4):
    for pair, stream in zip(pairs, streams):
        step(pair[1], pair[0], grid=(2, 2), block=(32, 32, 1), stream=stream)
        pair.reverse()
for pair, stream, start in zip(pairs, streams, starts):
    stream.synchronize()
    assert np.array_equal(pair[0].get(), reference(start, 4))
print("PASSED")
