/* layer: a layer between a student's library and OpenCL's ICD loader. It forwards the functions of
 * functions.def to libOpenCL.so.1, which it loads itself, and records each call with the line that
 * made it, each object's life, and each command with the device's own times.
 *
 * Where OpenCL leaves a choice open, the layer takes the less helpful one: data of a command
 * without a wait arrives only when it is waited for, a buffer in the host's memory is on the device
 * until it is mapped, and new buffers do not hold zeros. Invalid and
 * stale handles are not forwarded to OpenCL, where they would crash. Guard bytes behind each buffer
 * show whether a kernel wrote beyond its end. The layer never judges the program.
 *
 * The layer does not see what a kernel does inside its buffers: OpenCL executes kernels itself.
 */
#ifndef OVERLAP_OPENCL_LAYER_H
#define OVERLAP_OPENCL_LAYER_H

#include <stdint.h>

#define OPENCL_LIBRARY "liboverlap_opencl.so"

/* TRACE_SETTINGs: the numbers of platforms and devices; and for each device, with its number,
 * OpenCL's description of it, separated by tabs: platform, name, version, type, compute units,
 * work-items per group, bytes of global and of local memory. */
#define OPENCL_PLATFORMS_SETTING "opencl platforms"
#define OPENCL_COUNT_SETTING "opencl devices"
#define OPENCL_DEVICE_SETTING "opencl device %u"

/* A value of the setting that lists devices (trace/gpus.h): no platform at all. Other values are
 * passed to PoCL (POCL_DEVICES), with "|" between the devices of two platforms. */
#define OPENCL_NO_PLATFORM "none"

/* Copies between host and device are identified by their contents: the `count` of such a copy is
 * the sum of this function over all its 4-byte words, independent of their order; 0: unknown. */
static inline uint64_t opencl_content(uint32_t word)
{
    uint64_t x = (word + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (x ^ x >> 32) | 1;
}

/* The text of an operation is the number of its device, in OpenCL's order. */

/* The copy's name for a buffer created with the host's data, and for one that stays in host
 * memory. */
#define OPENCL_COPIED "CL_MEM_COPY_HOST_PTR"
#define OPENCL_USED "CL_MEM_USE_HOST_PTR"

/* For the runner, before the student's code is loaded. Each works only once; later calls of anybody
 * do nothing. */
struct drive_opencl;
const struct drive_opencl *overlap_drive(void); /* grader/child/drive_opencl.h */
const char *overlap_begin(void);                /* NULL, or why there is no OpenCL */

#endif
