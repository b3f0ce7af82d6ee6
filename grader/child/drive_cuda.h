/* drive_cuda: how a drive reports its own failed calls to CUDA: on stderr, which the report quotes.
 * Such a call fails when the machine is in trouble or the submission has broken the context; the
 * drive then returns without a result, and the judge decides which it was.
 */
#ifndef OVERLAP_GRADER_CHILD_DRIVE_CUDA_H
#define OVERLAP_GRADER_CHILD_DRIVE_CUDA_H

#include "grader/child/drive.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints the error and returns 1, as the result of drive_main. `what`: the function that failed, or
 * what the failure means. */
static inline int drive_failed(const char *what, cudaError_t error)
{
    fprintf(stderr, "drive: %s: %s\n", what, cudaGetErrorString(error));
    return 1;
}

static inline bool drive_succeeds(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) (void)drive_failed(what, error);
    return error == cudaSuccess;
}

/* Begins and ends a phase DRIVE_REMEMBERS, in which the runtime holds an error that no call of the
 * student's has returned. */
static inline void drive_remember(struct drive *drive, uint32_t index, bool begins)
{
    if (begins) {
        (void)cudaSetDevice(-1);
        drive_begin(drive, DRIVE_REMEMBERS, index);
    } else {
        drive_end(drive, DRIVE_REMEMBERS, index);
        (void)cudaGetLastError();
    }
}

#endif
