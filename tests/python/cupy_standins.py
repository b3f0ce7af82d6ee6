"""CuPy by ./emulate --stand-ins: products, transforms, random numbers, systems, decompositions."""
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

for kind in numpy.float32, numpy.float64, numpy.complex64, numpy.complex128:
    whole = rng.random((9, 9)).astype(kind)
    if numpy.iscomplexobj(whole):
        whole += 1j * rng.random((9, 9))
    x, tall = cupy.asarray(whole), cupy.asarray(whole[:, :5])
    right = numpy.ones((9, 2), kind)
    close(x @ cupy.linalg.solve(x, cupy.asarray(right)), right, 1e-3)
    q, r = cupy.linalg.qr(tall)
    close(q @ r, whole[:, :5])
    u, s, v = cupy.linalg.svd(tall, full_matrices=False)
    close(u * s @ v, whole[:, :5])
    hermitian = whole + whole.T.conj()
    w, v = cupy.linalg.eigh(cupy.asarray(hermitian))
    close(v * w @ v.T.conj(), hermitian)
    lower = cupy.linalg.cholesky(cupy.asarray(hermitian + 20 * numpy.eye(9, dtype=kind)))
    close(lower @ lower.T.conj(), hermitian + 20 * numpy.eye(9))
    w, v = cupy.linalg.eig(x)
    close(x @ v - v * w, numpy.zeros((9, 9)))
close(cupy.linalg.lstsq(cupy.asarray(systems[0, :, :3]), cupy.asarray(systems[0, :, 3]), None)[0],
      numpy.linalg.lstsq(systems[0, :, :3], systems[0, :, 3], None)[0], 1e-9)
print("PASSED")
