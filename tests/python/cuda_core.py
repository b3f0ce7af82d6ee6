"""cuda.core (cuda-python): a program of C++ with templates, compiled to a cubin; memory, a stream,
events, and launches."""
import numpy as np
from cuda.core import (Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Program,
                       ProgramOptions, launch)

SOURCE = """template <typename T> __global__ void scale(T *a, T factor, size_t n)
{
    const size_t i = size_t(blockDim.x) * blockIdx.x + threadIdx.x;
    if (i < n) a[i] *= factor;
}"""
device = Device()
device.set_current()
assert tuple(device.compute_capability) == (9, 0)
stream = device.create_stream()
program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch="sm_90"))
module = program.compile("cubin", name_expressions=("scale<float>", "scale<double>"))

for name, kind in (("scale<float>", np.float32), ("scale<double>", np.float64)):
    a = np.arange(1000, dtype=kind)
    host = LegacyPinnedMemoryResource().allocate(a.nbytes)
    there = device.allocate(a.nbytes, stream=stream)
    view = np.from_dlpack(host).view(kind)
    view[:] = a
    start = stream.record(options=EventOptions(timing_enabled=True))
    there.copy_from(host, stream=stream)
    launch(stream, LaunchConfig(grid=4, block=256), module.get_kernel(name), there, kind(2),
           np.uint64(1000))
    there.copy_to(host, stream=stream)
    end = stream.record(options=EventOptions(timing_enabled=True))
    end.sync()
    assert np.array_equal(view, 2 * a) and end - start > 0
    there.close(stream)
    stream.sync()
    host.close()
print("PASSED")
