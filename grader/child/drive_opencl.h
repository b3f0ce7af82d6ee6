/* drive_opencl: what a drive tells the layer before OpenCL (opencl/layer.h), which implements it,
 * between two calls of the student's functions.
 */
#ifndef OVERLAP_GRADER_CHILD_DRIVE_OPENCL_H
#define OVERLAP_GRADER_CHILD_DRIVE_OPENCL_H

/* The `number`-th call from now on that can fail does; 0: none does. */
void overlap_opencl_fail(unsigned number);

/* The student's function has returned: waits for what is still under way, and reports what nobody
 * has waited for, unless it `failed`: then nobody was to wait. */
void overlap_opencl_settle(int failed);

/* How many calls that can fail were still to come until one did, when it last settled. */
unsigned overlap_opencl_left(void);

#endif
