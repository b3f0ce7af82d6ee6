/* drive_opencl: functions of the OpenCL layer (opencl/layer.h) that a drive calls between two calls
 * of the student's functions. They are function pointers because symbols could be found or defined
 * by the student's code, which is in the same library as the drive.
 */
#ifndef OVERLAP_GRADER_CHILD_DRIVE_OPENCL_H
#define OVERLAP_GRADER_CHILD_DRIVE_OPENCL_H

struct drive_opencl {
    /* Makes the `number`-th call from now on, of those that can fail, fail; 0: none. */
    void (*fail)(unsigned number);
    /* Makes every release from now on, until settle, do its work and return an error. */
    void (*fail_releases)(void);
    /* Call it when the student's function has returned: waits for pending work, and reports work
     * that nobody waited for, unless the function `failed`, which need not wait. */
    void (*settle)(int failed);
    /* Returns how many calls that can fail were still to come until the failing one, at the last
     * settle. */
    unsigned (*left)(void);
    /* Writes the handles of all devices, in OpenCL's order, at most `room`. Returns how many were
     * written. */
    unsigned (*devices)(void **devices, unsigned room);
};

#endif
