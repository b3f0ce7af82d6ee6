"""PyCUDA: a Mandelbrot set by an elementwise kernel, with the context waited for by hand between an
asynchronous copy in, the kernel and an asynchronous copy out; against NumPy's."""
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel

SIDE, ITERATIONS, BOUND = 64, 64, 2.0
kernel = ElementwiseKernel(
    "pycuda::complex<float> *lattice, float *members, int iterations, float bound",
    """
    members[i] = 1;
    pycuda::complex<float> c = lattice[i], z(0, 0);
    for (int k = 0; k < iterations; k++) {
        z = z * z + c;
        if (abs(z) > bound) {
            members[i] = 0;
            break;
        }
    }
    """,
    "mandelbrot")

x = np.linspace(-2, 2, SIDE, dtype=np.float32)
lattice = (x[np.newaxis, :] + 1j * x[::-1, np.newaxis]).astype(np.complex64)
pinned = drv.pagelocked_empty(lattice.shape, np.complex64)
pinned[...] = lattice

points = gpuarray.to_gpu_async(pinned)
drv.Context.synchronize()
members = gpuarray.empty(shape=lattice.shape, dtype=np.float32)
kernel(points, members, np.int32(ITERATIONS), np.float32(BOUND))
drv.Context.synchronize()
result = drv.pagelocked_empty(lattice.shape, np.float32)
members.get_async(ary=result)
drv.Context.synchronize()

z, inside = np.zeros_like(lattice), np.ones(lattice.shape, dtype=bool)
for _ in range(ITERATIONS):
    z = np.where(inside, z * z + lattice, z)
    inside &= np.abs(z) <= BOUND
assert np.mean(result == inside) > 0.999, "all but points on the very edge"
assert result[SIDE // 2, SIDE // 2] == 1 and result[0, 0] == 0
print("PASSED")
