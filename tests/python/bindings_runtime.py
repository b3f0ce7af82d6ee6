"""NVIDIA's bindings (cuda-python): the runtime's functions by cuda.bindings.runtime, beside NVRTC's and
the driver's: memory, streams, events, errors, and a kernel that the driver launches."""
import numpy as np
from cuda.bindings import driver, nvrtc, runtime


def check(answer):
    """What a call gives besides its error, which is none."""
    assert int(answer[0]) == 0, answer
    return answer[1] if len(answer) == 2 else answer[1:]


SOURCE = b"""extern "C" __global__ void add(float *a, float b, int n)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) a[i] += b;
}"""
assert check(runtime.cudaGetDeviceCount()) == 1
properties = check(runtime.cudaGetDeviceProperties(0))
assert (properties.major, properties.minor) == (9, 0)

program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"add.cu", 0, [], []))
check(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_90"]))
image = bytes(check(nvrtc.nvrtcGetCUBINSize(program)))
check(nvrtc.nvrtcGetCUBIN(program, image))
check(runtime.cudaFree(0))
module = check(driver.cuModuleLoadData(image))
add = check(driver.cuModuleGetFunction(module, b"add"))

a = np.arange(1000, dtype=np.float32)
result = np.empty_like(a)
there = check(runtime.cudaMalloc(a.nbytes))
stream = check(runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking))
start, end = check(runtime.cudaEventCreate()), check(runtime.cudaEventCreate())
kind = runtime.cudaMemcpyKind
check(runtime.cudaMemcpyAsync(there, a.ctypes.data, a.nbytes, kind.cudaMemcpyHostToDevice, stream))
check(runtime.cudaEventRecord(start, stream))
arguments = [np.array([there], np.uint64), np.array([1.5], np.float32), np.array([1000], np.int32)]
pointers = np.array([argument.ctypes.data for argument in arguments], np.uint64)
check(driver.cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, int(stream), pointers.ctypes.data, 0))
check(runtime.cudaEventRecord(end, stream))
check(runtime.cudaMemcpyAsync(result.ctypes.data, there, a.nbytes, kind.cudaMemcpyDeviceToHost, stream))
check(runtime.cudaStreamSynchronize(stream))
assert np.array_equal(result, a + 1.5)
assert check(runtime.cudaEventElapsedTime(start, end)) > 0

error, _ = runtime.cudaMalloc(1 << 60)
assert error == runtime.cudaError_t.cudaErrorMemoryAllocation
assert check(runtime.cudaGetErrorName(error)) == b"cudaErrorMemoryAllocation"
assert runtime.cudaGetLastError()[0] == error and runtime.cudaGetLastError()[0] == 0
for event in (start, end):
    check(runtime.cudaEventDestroy(event))
check(runtime.cudaStreamDestroy(stream))
check(runtime.cudaFree(there))
check(driver.cuModuleUnload(module))
print("PASSED")
