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

#define OPENCL_LIBRARY "liboverlap_opencl.so"

/* TRACE_SETTINGs: how many devices there are, and of each, with its number, what OpenCL says of it:
 * platform, name, version, type, compute units, work-items in a group, bytes of global and of local
 * memory, a tab between two of them. */
#define OPENCL_COUNT_SETTING "opencl devices"
#define OPENCL_DEVICE_SETTING "opencl device %u"

/* In the setting that says which devices there are (trace/gpus.h): no platform at all; otherwise
 * what PoCL makes of it (POCL_DEVICES). */
#define OPENCL_NO_PLATFORM "none"

/* The runner's; a drive's functions are in grader/child/drive_opencl.h. Returns NULL, or why there
 * is no OpenCL. */
const char *overlap_begin(void);

#endif
