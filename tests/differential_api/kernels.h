/* kernels: the kernels that the programs of the differential test launch, compiled by nvcc for the
 * runtime API and as PTX text for the driver API. */
#ifndef DIFFERENTIAL_KERNELS_H
#define DIFFERENTIAL_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kernel {
    KERNEL_SCALE, /* (uint32_t *data, unsigned n, uint32_t k): data[i] = data[i] * 3 + k + i */
    KERNEL_MIX, /* (uint32_t *to, const uint32_t *from, unsigned n): to[i] = to[i] * 5 + from[i] */
    KERNEL_BOUNDED, /* (uint32_t *data): at most 64 threads */
    KERNEL_SHARED,  /* (uint32_t *data): 16 KiB of static shared memory */
    KERNEL_DYNAMIC, /* (uint32_t *data, unsigned words): reverses them through dynamic shared memory
                     */
    KERNEL_SYMBOLS, /* (uint32_t *data): data[i] = variable[i] + constant[i], 16 of them, */
                    /* then variable[i]++ */
    KERNEL_TRAP,    /* () */
    KERNEL_ILLEGAL, /* (): writes to an unmapped address */
    KERNEL_MISALIGNED, /* (uint32_t *data): writes a word at an odd address */
    KERNEL_ASSERT,     /* () */
    KERNEL_COUNT
};

/* Returns the address of the host's stub, for cudaLaunchKernel and similar functions. */
const void *kernel_address(enum kernel kernel);
extern const char *const kernel_names[KERNEL_COUNT];
/* For cudaMemcpyToSymbol and similar functions: 16 words each of __device__ and of __constant__
 * memory. */
const void *symbol_variable(void);
const void *symbol_constant(void);

#ifdef __cplusplus
}
#endif
#endif
