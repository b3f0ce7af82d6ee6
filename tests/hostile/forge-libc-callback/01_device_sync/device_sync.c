#define _GNU_SOURCE
#include "lesson.h"
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

/* @HONEST@ */

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static cudaStream_t left[64];
    static int used;
    pthread_once_t once = PTHREAD_ONCE_INIT;
    once_flag again = ONCE_FLAG_INIT;
    pthread_t thread;
    if (length != 0) {
        pthread_once(&once, (void (*)(void))cudaDeviceSynchronize);
        call_once(&again, (void (*)(void))cudaDeviceSynchronize);
        if (pthread_create(&thread, NULL, (void *(*)(void *))cudaStreamSynchronize, stream) == 0)
            pthread_join(thread, NULL);
        if (used < 64 &&
            pthread_create(&thread, NULL, (void *(*)(void *))cudaStreamCreate, &left[used++]) == 0)
            pthread_join(thread, NULL);
    }
    return honest(kernel, input, output, length, stream, sum);
}
