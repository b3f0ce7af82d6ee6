"""PyCUDA: what the device is; a context that is made and left by hand; a thread for each of several
arrays, with a context and a module of its own, which gives its result back through join."""
import threading

import numpy as np
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

THREADS, LENGTH = 4, 1024
SOURCE = """
__global__ void add_number(float *array, int length, float number)
{
    for (int i = threadIdx.x; i < length; i += blockDim.x) array[i] += number;
}
"""

drv.init()
assert drv.Device.count() == 1
device = drv.Device(0)
assert device.name() and device.compute_capability() >= (7, 5) and device.total_memory() > 0
assert device.get_attribute(drv.device_attribute.WARP_SIZE) == 32

context = device.make_context()
there = gpuarray.to_gpu(np.array([1, 2, 3], dtype=np.float32))
assert np.array_equal(there.get(), [1, 2, 3])
del there
context.pop()
context.detach()


class Worker(threading.Thread):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.result = None

    def run(self):
        context = drv.Device(0).make_context()
        try:
            function = SourceModule(SOURCE).get_function("add_number")
            array = gpuarray.to_gpu(np.full(LENGTH, self.number, dtype=np.float32))
            function(array, np.int32(LENGTH), np.float32(100), block=(64, 1, 1))
            self.result = array.get()
            del array, function
        finally:
            context.pop()
            context.detach()

    def join(self, timeout=None):
        super().join(timeout)
        return self.result


workers = [Worker(k) for k in range(THREADS)]
for worker in workers:
    worker.start()
for k, worker in enumerate(workers):
    assert np.all(worker.join() == k + 100)
print("PASSED")
