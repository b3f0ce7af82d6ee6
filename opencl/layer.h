/* layer: what stands between a student's library and OpenCL's ICD loader. It forwards the functions
 * of functions.def to libOpenCL.so.1, which it loads itself, and records each call with the line
 * that made it, each object's life, and each command with the device's own times.
 *
 * Where OpenCL leaves something open it takes the less helpful choice: what a command without a
 * wait was to bring arrives when it is waited for, and not before; new buffers hold no zeros. It
 * keeps handles that are none, or none any more, from OpenCL, where they would crash, and looks
 * behind the end of each buffer for what a kernel wrote there. It never judges.
 *
 * It never sees what a kernel does to the memory within its buffers: OpenCL executes kernels
 * itself.
 */
#ifndef OVERLAP_OPENCL_LAYER_H
#define OVERLAP_OPENCL_LAYER_H

#include <stdint.h>

#define OPENCL_LIBRARY "liboverlap_opencl.so"

/* TRACE_SETTINGs: how many platforms and devices there are, and of each device, with its number,
 * what OpenCL says of it: platform, name, version, type, compute units, work-items in a group,
 * bytes of global and of local memory, a tab between two of them. */
#define OPENCL_PLATFORMS_SETTING "opencl platforms"
#define OPENCL_COUNT_SETTING "opencl devices"
#define OPENCL_DEVICE_SETTING "opencl device %u"

/* In the setting that says which devices there are (trace/gpus.h): no platform at all; otherwise
 * what PoCL makes of it (POCL_DEVICES), with "|" between the devices of two platforms. */
#define OPENCL_NO_PLATFORM "none"

/* Whatever is copied between host and device is known by its contents: the `count` of such a copy
 * is the sum of this over all its words of 4 bytes, whatever their order; 0: it is not known. */
static inline uint64_t opencl_content(uint32_t word)
{
    uint64_t x = (word + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (x ^ x >> 32) | 1;
}

/* The text of an operation is the number of its device, in OpenCL's order. */

/* The name of a copy by a buffer that is made with the host's data, and of one that stays in the
 * host's memory. */
#define OPENCL_COPIED "CL_MEM_COPY_HOST_PTR"
#define OPENCL_USED "CL_MEM_USE_HOST_PTR"

/* The runner's, before the student's code is there: each does something once, and nothing when
 * anybody calls it again. */
struct drive_opencl;
const struct drive_opencl *overlap_drive(void); /* grader/child/drive_opencl.h */
const char *overlap_begin(void);                /* NULL, or why there is no OpenCL */

#endif
