"""CuPy on several devices: a chain of them by events, memory of a pool that one hands on while
another still copies it, peers, and NCCL."""
import cupy as cp
import numpy as np
from cupy.cuda import nccl

N = 1 << 14
scale = cp.RawKernel(r"""
extern "C" __global__ void scale(float *out, const float *in, float factor, int n)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}""", "scale")


def times(out, array, factor):
    scale((N // 256,), (256,), (out, array, np.float32(factor), np.int32(N)))


numbers = np.random.default_rng(1).standard_normal(N).astype(np.float32)
count = cp.cuda.runtime.getDeviceCount()
assert count == 2 and cp.cuda.runtime.deviceCanAccessPeer(1, 0)
streams, ins, outs = [], [], []
for device in range(count):
    with cp.cuda.Device(device):
        streams.append(cp.cuda.Stream(non_blocking=True))
        ins.append(cp.asarray(numbers))
        outs.append(cp.empty(N, cp.float32))
        cp.cuda.Device(device).synchronize()
for device in range(count):
    with cp.cuda.Device(device), streams[device]:
        if device > 0:
            streams[device].wait_event(done)
            ins[device].data.copy_from_device_async(outs[device - 1].data, 4 * N, streams[device])
        times(outs[device], ins[device], 2)
        done = streams[device].record()
with cp.cuda.Device(count - 1):
    assert np.array_equal(outs[-1].get(stream=streams[-1]), 4 * numbers)

with cp.cuda.Device(0), streams[0]:
    streams[0].wait_event(done)
    first = cp.empty(N, cp.float32)
    times(first, ins[0], 5)
    made = streams[0].record()
with cp.cuda.Device(1):
    streams[1].wait_event(made)
    ins[1].data.copy_from_device_async(first.data, 4 * N, streams[1])
    copied = streams[1].record()
address = first.data.ptr
del first
with cp.cuda.Device(0), streams[0]:
    streams[0].wait_event(copied)
    again = cp.empty(N, cp.float32)
    assert again.data.ptr == address
    times(again, ins[0], 9)
    made = streams[0].record()
with cp.cuda.Device(1), streams[1]:
    assert np.array_equal(ins[1].get(stream=streams[1]), 5 * numbers)
    cp.cuda.runtime.deviceEnablePeerAccess(0)
    streams[1].wait_event(made)
    times(outs[1], again, 1)
    assert np.array_equal(outs[1].get(stream=streams[1]), 9 * numbers)

ranks = nccl.NcclCommunicator.initAll(count)
nccl.groupStart()
for device in range(count):
    with cp.cuda.Device(device):
        ranks[device].allReduce(ins[device].data.ptr, outs[device].data.ptr, N, nccl.NCCL_FLOAT32,
                                nccl.NCCL_SUM, streams[device].ptr)
nccl.groupEnd()
for device in range(count):
    with cp.cuda.Device(device):
        assert np.array_equal(outs[device].get(stream=streams[device]), numbers + 5 * numbers)
print("PASSED")
