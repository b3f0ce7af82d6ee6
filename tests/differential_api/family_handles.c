/* Destroyed handles, and handles of a destroyed context. Where CUDA returns an error, it must be
 * the same; where a driver crashes, the log ends, and the call is not part of the golden data. For
 * a destroyed stream, event or module a GPU's driver looks at the freed memory and returns 709, 400
 * or 201 accordingly, so only the fact that it is refused is compared. */
#include "tests/differential_api/kernels.h"
#include "tests/differential_api/program.h"

#define ENDED(p, code, call) note(p, call ": %s", (int)(code) != 0 ? "refused" : "accepted")

static void stream_calls(struct program *p, CUstream s)
{
    unsigned flags;
    switch (draw(p, 6)) {
    case 0:
        ENDED(p, cuStreamQuery(s), "cuStreamQuery(ended)");
        break;
    case 1:
        ENDED(p, cuStreamSynchronize(s), "cuStreamSynchronize(ended)");
        break;
    case 2:
        ENDED(p, cuStreamDestroy(s), "cuStreamDestroy(ended)");
        break;
    case 3:
        ENDED(p, cuStreamGetFlags(s, &flags), "cuStreamGetFlags(ended)");
        break;
    case 4:
        ENDED(p, cudaStreamQuery(s), "cudaStreamQuery(ended)");
        break;
    default:
        ENDED(p, cudaStreamSynchronize(s), "cudaStreamSynchronize(ended)");
        break;
    }
}

static void event_calls(struct program *p, CUevent e)
{
    switch (draw(p, 6)) {
    case 0:
        ENDED(p, cuEventQuery(e), "cuEventQuery(ended)");
        break;
    case 1:
        ENDED(p, cuEventSynchronize(e), "cuEventSynchronize(ended)");
        break;
    case 2:
        ENDED(p, cuEventDestroy(e), "cuEventDestroy(ended)");
        break;
    case 3:
        ENDED(p, cuEventRecord(e, NULL), "cuEventRecord(ended)");
        break;
    case 4:
        ENDED(p, cudaEventQuery(e), "cudaEventQuery(ended)");
        break;
    default:
        ENDED(p, cudaStreamWaitEvent(NULL, e, 0), "cudaStreamWaitEvent(NULL, ended)");
        break;
    }
}

static void context_calls(struct program *p, CUcontext c)
{
    unsigned version;
    CUdeviceptr memory = 0;
    switch (draw(p, 6)) {
    case 0:
        dr(p, cuCtxSetCurrent(c), "cuCtxSetCurrent(ended)");
        break;
    case 1:
        dr(p, cuCtxPushCurrent(c), "cuCtxPushCurrent(ended)");
        break;
    case 2:
        dr(p, cuCtxDestroy(c), "cuCtxDestroy(ended)");
        break;
    case 3:
        dr(p, cuCtxGetApiVersion(c, &version), "cuCtxGetApiVersion(ended)");
        break;
    case 4:
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        break;
    default:
        dr(p, cuMemAlloc(&memory, 16), "cuMemAlloc()");
        break;
    }
}

static void module_calls(struct program *p, CUmodule m, CUfunction f)
{
    CUfunction function;
    CUdeviceptr address;
    int value;
    switch (draw(p, 5)) {
    case 0:
        ENDED(p, cuModuleGetFunction(&function, m, "k"), "cuModuleGetFunction(ended)");
        break;
    case 1:
        ENDED(p, cuModuleGetGlobal(&address, NULL, m, "v"), "cuModuleGetGlobal(ended)");
        break;
    case 2:
        ENDED(p, cuModuleUnload(m), "cuModuleUnload(ended)");
        break;
    case 3:
        ENDED(p, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f),
              "cuFuncGetAttribute(of an ended module)");
        break;
    default:
        ENDED(p, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
              "cuLaunchKernel(of an ended module)");
        break;
    }
}

static void memory_calls(struct program *p, CUdeviceptr m)
{
    char bytes[16];
    int value;
    switch (draw(p, 5)) {
    case 0:
        dr(p, cuMemFree(m), "cuMemFree(freed)");
        break;
    case 1:
        rt(p, cudaFree((void *)m), "cudaFree(freed)");
        break;
    case 2:
        dr(p, cuMemcpyDtoH(bytes, m, 16), "cuMemcpyDtoH(freed)");
        break;
    case 3:
        dr(p, cuMemsetD8(m, 0, 16), "cuMemsetD8(freed)");
        break;
    default:
        dr(p, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, m),
           "cuPointerGetAttribute(freed)");
        break;
    }
}

void family_handles(struct program *p)
{
    CUcontext context = NULL, other = NULL;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr memory = 0;
    unsigned which = draw(p, 6);
    bool with_context = chance(p, 35);
    cuInit(0);
    dr(p, cuCtxCreate(&other, NULL, 0, 0), "cuCtxCreate(&other)");
    dr(p, cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate(&c)");
    cuStreamCreate(&stream, 0);
    cuEventCreate(&event, 0);
    cuMemAlloc(&memory, 1 << 22);
    cuModuleLoadData(&module, ".version 7.5\n.target sm_75\n.address_size 64\n"
                              ".visible .global .u32 v;\n.visible .entry k() { ret; }\n");
    cuModuleGetFunction(&function, module, "k");
    if (with_context || which == 5) {
        if (chance(p, 50)) dr(p, cuCtxPopCurrent(NULL), "cuCtxPopCurrent()");
        dr(p, cuCtxDestroy(context), "cuCtxDestroy(c)");
    } else {
        dr(p, cuStreamDestroy(stream), "cuStreamDestroy(s)");
        dr(p, cuEventDestroy(event), "cuEventDestroy(e)");
        dr(p, cuMemFree(memory), "cuMemFree()");
        dr(p, cuModuleUnload(module), "cuModuleUnload()");
    }
    for (unsigned left = 1 + draw(p, 3); left > 0; left--) {
        switch (which) {
        case 0:
            stream_calls(p, stream);
            break;
        case 1:
            event_calls(p, event);
            break;
        case 2:
            module_calls(p, module, function);
            break;
        case 3:
            memory_calls(p, memory);
            break;
        default:
            context_calls(p, context);
            break;
        }
    }
    dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
}
