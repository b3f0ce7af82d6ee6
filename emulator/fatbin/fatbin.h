/* fatbin: finds the PTX that this device can run in an image that a program passes to the driver:
 * the wrapper of a fat binary (as nvcc's host code registers it), a bare container, or plain PTX
 * text.
 *
 * This module never executes or parses PTX, and it trusts no input: every header is checked against
 * the bytes that are there, every compressed payload against the size it claims.
 *
 * Source: fatbinary_section.h of the CUDA Toolkit (the wrapper); the container's layout as nvcc
 * 13.0 writes it; LZ4 block format; RFC 8878 (zstd).
 */
#ifndef OVERLAP_FATBIN_FATBIN_H
#define OVERLAP_FATBIN_FATBIN_H

#include <stddef.h>

/* The size of an image whose length the caller cannot know (cuModuleLoadData's). Its headers alone
 * then give the sizes, and PTX text ends at its first zero byte. */
#define FATBIN_UNKNOWN_SIZE ((size_t)-1)

/* No PTX text is larger; a header that claims more is damaged. */
#define FATBIN_TEXT_LIMIT ((size_t)256 << 20)

enum fatbin_result {
    FATBIN_OK,
    FATBIN_NOT_AN_IMAGE, /* neither a fat binary nor PTX: CUDA_ERROR_INVALID_IMAGE */
    FATBIN_DAMAGED,      /* a header or payload contradicts itself: CUDA_ERROR_INVALID_IMAGE */
    FATBIN_NO_PTX,       /* machine code only: CUDA_ERROR_NO_BINARY_FOR_GPU */
    FATBIN_TOO_NEW,      /* PTX for later devices only: CUDA_ERROR_NO_BINARY_FOR_GPU */
    FATBIN_NO_MEMORY,    /* CUDA_ERROR_OUT_OF_MEMORY */
};

/* One PTX text. */
struct fatbin_unit {
    char *text; /* zero-terminated; length does not count the zero */
    size_t length;
    unsigned arch; /* compute capability it was compiled for, times ten: 75; 0 for plain text */
};

/* The PTX of one module: one unit or, with -rdc=true, one per translation unit, to be linked. */
struct fatbin {
    struct fatbin_unit *units;
    size_t count;
};

/* Reads `image`, of which `size` bytes may be read, and extracts the PTX for a device of
 * `capability` (75 for compute capability 7.5): of several entries the one for the highest
 * architecture that is not above `capability`. When there is none, but there is machine code that
 * such a device runs, takes the PTX inside that (machine.h), or the entry for the lowest
 * architecture above: the program would run there, and this is its PTX. A wrapper holds addresses,
 * so it is followed only when `size` is FATBIN_UNKNOWN_SIZE: bytes from a file cannot be a wrapper.
 *
 * On FATBIN_OK fills `fatbin`, which the caller releases with fatbin_close. Otherwise zeroes it and
 * writes one sentence to `why`, which says what is wrong and what to do. Keeps no reference to
 * `image`. */
enum fatbin_result fatbin_open(const void *image, size_t size, unsigned capability,
                               struct fatbin *fatbin, char *why, size_t why_size);
void fatbin_close(struct fatbin *fatbin);

#endif
