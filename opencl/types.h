/* types: OpenCL's types and constants that the layer needs, as in the binary interface (OpenCL
 * 1.2). The layer is built without OpenCL's headers: only student files need them, and they come
 * with the package that lesson 13 requires.
 */
#ifndef OVERLAP_OPENCL_TYPES_H
#define OVERLAP_OPENCL_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint, cl_bool;
typedef uint64_t cl_ulong, cl_bitfield;

/* An opaque handle. */
typedef void *cl_handle;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_OUT_OF_RESOURCES = -5,
    CL_PROFILING_INFO_NOT_AVAILABLE = -7,
    CL_INVALID_VALUE = -30,
    CL_INVALID_PLATFORM = -32,
    CL_INVALID_CONTEXT = -34,
    CL_INVALID_COMMAND_QUEUE = -36,
    CL_INVALID_MEM_OBJECT = -38,
    CL_INVALID_PROGRAM = -44,
    CL_INVALID_KERNEL = -48,
    CL_INVALID_KERNEL_ARGS = -52,
    CL_INVALID_EVENT = -58,
    CL_INVALID_OPERATION = -59,
};

enum {
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_NAME = 0x102b,
    CL_DEVICE_VERSION = 0x102f,
    CL_DEVICE_PLATFORM = 0x1031,
    CL_CONTEXT_DEVICES = 0x1081,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_PROPERTIES = 0x1093,
    CL_MEM_FLAGS = 0x1101,
    CL_MEM_SIZE = 0x1102,
    CL_MEM_HOST_PTR = 0x1103,
    CL_KERNEL_FUNCTION_NAME = 0x1190,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11d3,
    CL_PROFILING_COMMAND_QUEUED = 0x1280,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
};
#define CL_DEVICE_TYPE_DEFAULT (UINT64_C(1) << 0)
#define CL_DEVICE_TYPE_ALL UINT64_C(0xffffffff)

/* Properties of a command queue. */
#define CL_QUEUE_OUT_OF_ORDER (UINT64_C(1) << 0)
#define CL_QUEUE_PROFILING (UINT64_C(1) << 1)
/* Flags of a buffer. */
#define CL_MEM_WRITE_ONLY (UINT64_C(1) << 1)
#define CL_MEM_USE_HOST_PTR (UINT64_C(1) << 3)
#define CL_MEM_ALLOC_HOST_PTR (UINT64_C(1) << 4)
#define CL_MEM_COPY_HOST_PTR (UINT64_C(1) << 5)
#define CL_MEM_HOST_WRITE_ONLY (UINT64_C(1) << 7)
#define CL_MEM_HOST_READ_ONLY (UINT64_C(1) << 8)
#define CL_MEM_HOST_NO_ACCESS (UINT64_C(1) << 9)
/* Flags of a mapping. */
#define CL_MAP_READ (UINT64_C(1) << 0)
#define CL_MAP_WRITE (UINT64_C(1) << 1)
#define CL_MAP_WRITE_INVALIDATE_REGION (UINT64_C(1) << 2)

#endif
