"""CuPy by ./emulate --stand-ins: products, transforms, random numbers, and small systems."""
import cupy
import numpy

rng = numpy.random.default_rng(5)


def close(got, wanted, allowed=1e-4):
    got = cupy.asnumpy(got)
    assert got.shape == wanted.shape and numpy.abs(got - wanted).max() <= allowed, wanted


a, b = rng.random((37, 53), dtype=numpy.float32), rng.random((53, 29), dtype=numpy.float32)
for kind in numpy.float32, numpy.float64, numpy.complex64, numpy.complex128:
    x, y = a.astype(kind), b.astype(kind)
    close(cupy.asarray(x) @ cupy.asarray(y), x @ y)
close(cupy.asarray(a.astype(numpy.float16)) @ cupy.asarray(b.astype(numpy.float16)),
      (a @ b).astype(numpy.float16), 0.05)
close(cupy.matmul(cupy.asarray([a, a + 1]), cupy.asarray(b)), numpy.matmul([a, a + 1], b))
close(cupy.einsum("ij,jk->ik", cupy.asarray(a), cupy.asarray(b)), a @ b)
close(cupy.asarray(a) @ cupy.asarray(b[:, 0]), a @ b[:, 0])

close(cupy.fft.fft(cupy.asarray(a)), numpy.fft.fft(a))
close(cupy.fft.irfft2(cupy.fft.rfft2(cupy.asarray(a)), s=a.shape), a)
close(cupy.fft.fftn(cupy.asarray([a, a + 1])), numpy.fft.fftn([a, a + 1]), 1e-2)

cupy.random.seed(3)
numbers = cupy.random.rand(10000)
assert abs(float(numbers.mean()) - 0.5) < 0.02 and 0 <= float(numbers.min())
assert abs(float(cupy.random.randn(10000).std()) - 1) < 0.05

systems = rng.random((4, 6, 6)) + 6 * numpy.eye(6)
close(cupy.linalg.inv(cupy.asarray(systems)), numpy.linalg.inv(systems), 1e-9)
print("PASSED")
