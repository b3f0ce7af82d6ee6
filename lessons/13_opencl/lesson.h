/* Lesson 13, OpenCL: the same work without CUDA, and the host against the device.
 *
 * You write the three functions in opencl.c, with the sources of their kernels in it. This file is
 * the contract. Do not change it.
 *
 * Every object of OpenCL that a function makes is released when it returns, on every path. Each
 * function returns CL_SUCCESS, or the first error that any call gave.
 */
#ifndef OVERLAP_LESSONS_13_OPENCL_LESSON_H
#define OVERLAP_LESSONS_13_OPENCL_LESSON_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

/* A device, as OpenCL describes it. */
#define OPENCL_TEXT 128
struct opencl_device {
    cl_device_id id;
    char platform[OPENCL_TEXT]; /* CL_PLATFORM_NAME */
    char name[OPENCL_TEXT];     /* CL_DEVICE_NAME */
    char version[OPENCL_TEXT];  /* CL_DEVICE_VERSION */
    cl_device_type type;
    cl_uint units;   /* compute units */
    size_t group;    /* work-items in a work-group, at most */
    cl_ulong memory; /* bytes of global memory */
    cl_ulong local;  /* bytes of local memory */
};

/* Step 1: describes the devices of every type on all platforms, in OpenCL's order: the first `room`
 * of them in devices, and how many there are in *count. room may be 0, and devices is NULL then.
 * That there is no platform, or no device, is no error. */
cl_int opencl_devices(struct opencl_device *devices, cl_uint room, cl_uint *count);

/* Step 2: c[i] = a[i] + b[i], computed on `device`, by one work-item for each element. The sums are
 * in c when the function returns. count may be 0, and nothing is computed then. */
cl_int opencl_sum(cl_device_id device, const float *a, const float *b, float *c, size_t count);

/* Nanoseconds. */
struct opencl_times {
    cl_ulong host;    /* the host's loop, by the clock `now` */
    cl_ulong written; /* the copies to the device, by their events' profiling, added up */
    cl_ulong kernel;  /* the kernel, from its start to its end, by its event's profiling */
    cl_ulong read;    /* the copy back, by its event's profiling */
    cl_ulong total;   /* by `now`: the copies, the kernel, and the wait for them */
};

/* Step 3: takes a[i] and adds b[i] to it `rounds` times, one addition of floats behind the other:
 * the host does so into `host`, and the device into `sums`, both of `count` elements, at least 1.
 * Data go to the device and back in commands of one queue, each byte once. *times says how long
 * each took; `now` is the host's clock, in nanoseconds. It is read right before the host's loop and
 * right behind it, before the first command is queued, and when the last has ended. What is done
 * once, as building the program, is in none of the times. */
cl_int opencl_compare(cl_device_id device, const float *a, const float *b, size_t count,
                      cl_uint rounds, float *host, float *sums, struct opencl_times *times,
                      uint64_t (*now)(void));

#endif
