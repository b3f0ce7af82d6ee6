/* drive_cuda: what a drive says of its own calls to CUDA, on stderr, where the report quotes it.
 * They fail when the machine is in trouble or the submission has broken the context; the drive then
 * returns without an answer, and the judge decides which.
 */
#ifndef OVERLAP_GRADER_CHILD_DRIVE_CUDA_H
#define OVERLAP_GRADER_CHILD_DRIVE_CUDA_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>

/* Returns 1, for a drive_main to return. `what`: the function that failed, or what that means. */
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

#endif
