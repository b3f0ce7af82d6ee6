"""Warp: its device for CUDA is refused, its device "cpu" is the way out that the refusal names."""
import numpy as np
import warp as wp

wp.config.quiet = True
wp.set_device("cpu")


@wp.kernel
def double(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] * 2.0


a = wp.array(np.arange(1000, dtype=np.float32))
b = wp.zeros_like(a)
wp.launch(double, dim=1000, inputs=[a, b])
assert np.array_equal(b.numpy(), 2 * np.arange(1000))
print("PASSED")
