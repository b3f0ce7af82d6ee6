#include "lesson.h"
#include <stdlib.h>
#include <string.h>

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t bytes = (lanes[i].length * sizeof(float) + 4095) & ~(size_t)4095;
        lanes[i].host = lanes[i].length > (size_t)1 << 28 ? NULL : aligned_alloc(4096, bytes);
        lanes[i].device = lanes[i].host ? aligned_alloc(4096, bytes) : NULL;
        if (!lanes[i].device) {
            for (size_t j = 0; j <= i; j++) {
                free(lanes[j].host);
                free(lanes[j].device);
                lanes[j].host = lanes[j].device = NULL;
                lanes[j].stream = NULL;
            }
            return cudaErrorMemoryAllocation;
        }
        lanes[i].stream = (cudaStream_t)((size_t)0x7f0000000000 + 4096 * (i + 1));
    }
    return cudaSuccess;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    (void)kernel;
    for (size_t i = 0; i < count; i++) {
        memcpy(lanes[i].device, lanes[i].host, lanes[i].length * sizeof(float));
        for (size_t k = 0; k < lanes[i].length; k++)
            lanes[i].host[k] = lanes[i].device[k] + (float)(1u + (unsigned)k % 1009u);
    }
    return cudaSuccess;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(lanes[i].host);
        free(lanes[i].device);
        lanes[i].host = lanes[i].device = NULL;
        lanes[i].stream = NULL;
    }
    return cudaSuccess;
}
