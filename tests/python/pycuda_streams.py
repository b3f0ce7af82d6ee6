"""PyCUDA: several arrays, a stream and a pair of events for each, copies of page-locked memory; one
long kernel between two events that are asked before and after it is waited for."""
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

ARRAYS, LENGTH = 8, 2048
there_and_back = SourceModule("""
__global__ void there_and_back(float *array, int length)
{
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        for (int k = 0; k < 4; k++) {
            array[i] = array[i] * 2.0f;
            array[i] = array[i] / 2.0f;
        }
        array[i] += 1.0f;
    }
}
""").get_function("there_and_back")

streams = [drv.Stream() for _ in range(ARRAYS)]
starts = [drv.Event() for _ in range(ARRAYS)]
ends = [drv.Event() for _ in range(ARRAYS)]
data, results, on_gpu = [], [], []
for k in range(ARRAYS):
    data.append(drv.pagelocked_empty(LENGTH, np.float32))
    results.append(drv.pagelocked_empty(LENGTH, np.float32))
    data[k][:] = np.linspace(-k, k + 1, LENGTH, dtype=np.float32)
    on_gpu.append(gpuarray.to_gpu_async(data[k], stream=streams[k]))
for k in range(ARRAYS):
    starts[k].record(streams[k])
    there_and_back(on_gpu[k], np.int32(LENGTH), block=(64, 1, 1), stream=streams[k])
    ends[k].record(streams[k])
for k in range(ARRAYS):
    on_gpu[k].get_async(stream=streams[k], ary=results[k])
for k in range(ARRAYS):
    streams[k].synchronize()
    assert np.array_equal(results[k], data[k] + np.float32(1))
times = [starts[k].time_till(ends[k]) for k in range(ARRAYS)]
assert min(times) > 0

start, end = drv.Event(), drv.Event()
long_one = gpuarray.to_gpu(np.ones(64 * LENGTH, dtype=np.float32))
drv.Context.synchronize()
start.record()
there_and_back(long_one, np.int32(64 * LENGTH), block=(64, 1, 1))
end.record()
before = start.query(), end.query()
end.synchronize()
assert start.query() and end.query()
assert start.time_till(end) > 0
assert np.all(long_one.get() == 2)
print("PASSED")
