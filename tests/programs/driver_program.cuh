// What programs that use the driver API need beyond program.cuh.
#ifndef OVERLAP_TESTS_DRIVER_PROGRAM_CUH
#define OVERLAP_TESTS_DRIVER_PROGRAM_CUH

#include "tests/programs/program.cuh"

#include <cuda.h>

#define CHECK_DRIVER(call)                                                                         \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        const char *name_ = "an unknown error";                                                    \
        if (result_ != CUDA_SUCCESS) {                                                             \
            cuGetErrorName(result_, &name_);                                                       \
            std::fprintf(stderr, "%s:%d: %s gives %s\n", __FILE__, __LINE__, #call, name_);        \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

#define EXPECT_RESULT(call, wanted)                                                                \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        const char *name_ = "an unknown error";                                                    \
        if (result_ != (wanted)) {                                                                 \
            cuGetErrorName(result_, &name_);                                                       \
            std::fprintf(stderr, "%s:%d: %s gives %s instead of %s\n", __FILE__, __LINE__, #call,  \
                         name_, #wanted);                                                          \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// The device's primary context, retained and current.
inline CUcontext use_primary_context()
{
    CUdevice device;
    CUcontext context;
    CHECK_DRIVER(cuInit(0));
    CHECK_DRIVER(cuDeviceGet(&device, 0));
    CHECK_DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    CHECK_DRIVER(cuCtxSetCurrent(context));
    return context;
}

#endif
