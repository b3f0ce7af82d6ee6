#ifndef LESSON_01_DEVICE_SYNC_H
#define LESSON_01_DEVICE_SYNC_H

#include "cuda_runtime_api.h"
#include <stddef.h>

typedef cudaError_t (*device_sync_kernel)(float *array, size_t length, cudaStream_t stream);

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum);

#endif
