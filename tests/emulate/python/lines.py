"""What is wrong in a Python program that calls the driver by ctypes: `lines.py CASE`."""

import ctypes
import sys
import threading

import helper

PTX = b"""
.version 7.5
.target sm_75
.address_size 64
.file 1 "/nowhere/string.cu"
//string.cu:3     to[64] = 1;
.visible .entry store(.param .u64 to)
{
    .reg .b64 %to;
    .reg .b32 %one;
    ld.param.u64 %to, [to];
    cvta.to.global.u64 %to, %to;
    mov.u32 %one, 1;
    st.global.u32 [%to+256], %one;
    ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")


def begin(ptx=PTX):
    device, context, module, store = (ctypes.c_void_p() for _ in range(4))
    helper.check(cuda.cuInit(0))
    helper.check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device.value or 0))
    helper.check(cuda.cuCtxSetCurrent(context))
    helper.check(cuda.cuModuleLoadData(ctypes.byref(module), ptx))
    helper.check(cuda.cuModuleGetFunction(ctypes.byref(store), module, b"store"))
    return context, store


def launch(store, memory):
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    cuda.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)  # here: launch


def beyond(ptx=PTX):
    _, store = begin(ptx)
    memory = ctypes.c_uint64()
    helper.check(cuda.cuMemAlloc_v2(ctypes.byref(memory), 256))  # here: allocation
    launch(store, memory)
    cuda.cuCtxSynchronize()


def on_thread(context):
    cuda.cuCtxSetCurrent(context)
    helper.free(cuda, 4096)  # here: helped


def thread():
    context, _ = begin()
    other = threading.Thread(target=on_thread, args=(context,))
    other.start()
    other.join()


def race():
    begin()
    streams = [ctypes.c_void_p() for _ in range(2)]
    memory = helper.allocate(cuda, 256)
    for stream in streams:
        helper.check(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    cuda.cuMemsetD8Async(memory, 1, 256, streams[0])  # here: one
    cuda.cuMemsetD8Async(memory, 2, 256, streams[1])  # here: other
    cuda.cuCtxSynchronize()


def freed():
    begin()
    memory = helper.allocate(cuda, 256)  # here: made
    helper.check(cuda.cuMemFree_v2(memory))  # here: end
    cuda.cuMemsetD8_v2(memory, 1, 256)  # here: late


def quoted():
    beyond(PTX.replace(b"    st.global", b"    .loc 1 3 0\n    st.global"))


def uncertain():
    begin(PTX.replace(b"to[64] = 1;", b"something else"))
    quoted()


globals()[sys.argv[1]]()
