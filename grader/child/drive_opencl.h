/* drive_opencl: what a drive asks of the layer before OpenCL (opencl/layer.h), between two calls of
 * the student's functions. Pointers, as names would be found by the student's code: it lies in the
 * same library as the drive, and may define, or look up, any name.
 */
#ifndef OVERLAP_GRADER_CHILD_DRIVE_OPENCL_H
#define OVERLAP_GRADER_CHILD_DRIVE_OPENCL_H

struct drive_opencl {
    /* The `number`-th call from now on that can fail does; 0: none does. */
    void (*fail)(unsigned number);
    /* Every release from now on, until it settles, does its work and returns an error. */
    void (*fail_releases)(void);
    /* The student's function has returned: waits for what is still under way, and reports what
     * nobody has waited for, unless it `failed`: then nobody was to wait. */
    void (*settle)(int failed);
    /* How many calls that can fail were still to come until one did, when it last settled. */
    unsigned (*left)(void);
    /* The handles of all devices, in OpenCL's order: the first `room` of them. Returns how many
     * those are. */
    unsigned (*devices)(void **devices, unsigned room);
};

#endif
