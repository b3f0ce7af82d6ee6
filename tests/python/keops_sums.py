"""KeOps: sums over all pairs of points, which it makes a kernel of by NVRTC: a Gaussian convolution,
the nearest neighbours, a softmax, and a derivative."""
import numpy as np
import pykeops
from pykeops.numpy import Genred, LazyTensor

pykeops.set_verbose(False)
assert pykeops.config.gpu_available
random = np.random.default_rng(5)
x = random.random((500, 3), dtype=np.float32)
y = random.random((700, 3), dtype=np.float32)
b = random.random((700, 2), dtype=np.float32)
distances = ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)

xs, ys = LazyTensor(x[:, None, :]), LazyTensor(y[None, :, :])
found = ((xs - ys) ** 2).sum(-1).argKmin(5, axis=1, backend="GPU")
assert np.array_equal(found, np.argsort(distances, axis=1)[:, :5])

gauss = Genred("Exp(-SqDist(x, y)) * b", ["x = Vi(3)", "y = Vj(3)", "b = Vj(2)"], axis=1)
assert np.allclose(gauss(x, y, b, backend="GPU"), np.exp(-distances) @ b, rtol=1e-4)
soft = Genred("-SqDist(x, y)", ["x = Vi(3)", "y = Vj(3)"], reduction_op="LogSumExp", axis=1)
assert np.allclose(soft(x, y, backend="GPU").ravel(), np.log(np.exp(-distances).sum(1)), rtol=1e-4)
slope = Genred("Grad(Exp(-SqDist(x, y)) * b, x, e)",
               ["x = Vi(3)", "y = Vj(3)", "b = Vj(2)", "e = Vi(2)"], axis=1)
e = np.ones((500, 2), dtype=np.float32)
wanted = (-2 * (x[:, None, :] - y[None, :, :]) * (np.exp(-distances) * b.sum(1))[:, :, None]).sum(1)
assert np.allclose(slope(x, y, b, e, backend="GPU"), wanted, rtol=1e-3, atol=1e-3)
print("PASSED")
