/* Lesson 11, structs: structs and arguments, on their way from the host to a kernel and back.
 *
 * You write the four functions in structs.cu, and the kernels that they launch. This file is the
 * contract. Do not change it.
 *
 * The host memory that the functions are given is the caller's, page-locked or pageable, as it
 * comes. Device memory that a function allocates is released when it returns, on every path. All
 * work is in `stream`. Each function returns success, or the first error that any call gave; an
 * error of a call before this one, which the runtime still remembers (cudaGetLastError), is not
 * returned.
 */
#ifndef OVERLAP_LESSONS_11_STRUCTS_LESSON_H
#define OVERLAP_LESSONS_11_STRUCTS_LESSON_H

#include <cuda.h>
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix in device memory, the caller's: element (y, x) is elements[y * stride + x]. rows and
 * columns are from 1 to 30000, stride is at least columns, and rows * stride is below 2^31. */
struct structs_matrix {
    int32_t rows, columns, stride;
    float *elements;
};

/* Step 1: doubles each element in one launch, and returns when it is queued, without waiting. Each
 * element is read once and written once; what lies between two rows is neither. */
cudaError_t structs_double(struct structs_matrix matrix, cudaStream_t stream);

/* A struct whose fields are in an unlucky order. */
struct structs_sample {
    char letter;
    double weight;
    int16_t code;
    float4 colour;
    float *data;
    char last;
};

/* How it lies in memory, in bytes; the offsets are in the order of the fields. */
#define STRUCTS_FIELDS 6
struct structs_layout {
    uint64_t size, alignment, offsets[STRUCTS_FIELDS];
};

/* Step 2: the layout of struct structs_sample as the host's code has it, and as a kernel has it,
 * which writes it down. Both are there when the function returns. */
cudaError_t structs_layouts(struct structs_layout *host, struct structs_layout *device,
                            cudaStream_t stream);

/* `length` elements in host memory, and what they are to be multiplied by. length is at least 0;
 * where it is 0, data is NULL. */
struct structs_array {
    int16_t factor;
    float *data;
    int32_t length;
};

/* Step 3: copies `count` structs and all their elements to the device; a kernel multiplies each
 * element by its array's factor; those of arrays[first] and of all behind it are then multiplied
 * once more; the elements are copied back. They are there when the function returns. The structs
 * stay as they were. 0 <= first <= count, and count may be 0. Each byte is copied once in each
 * direction at most, in at most 4 copies for each array and 2 launches for all; gaps of up to 256
 * bytes beside an array may be copied with it. */
cudaError_t structs_multiply(struct structs_array *arrays, int count, int first,
                             cudaStream_t stream);

/* What becomes of an argument of a kernel. */
enum structs_way {
    STRUCTS_VALUE, /* the parameter is the value at data */
    STRUCTS_IN,    /* a pointer to device memory that holds what data holds */
    STRUCTS_OUT,   /* a pointer to device memory, whose bytes are copied to data afterwards */
    STRUCTS_INOUT, /* both */
};

struct structs_argument {
    enum structs_way way;
    void *data;       /* host memory */
    size_t size;      /* bytes there; of a value at most 16, otherwise at least 1 */
    size_t alignment; /* of what lies there: 1, 2, 4, 8 or 16 */
};

/* Step 4: calls a kernel with `count` parameters, from 1 to 16, in `blocks` blocks of `threads`
 * threads, by cuLaunchKernel. The results are there when the function returns. What is OUT is not
 * copied to the device, and what is IN not back; gaps as in step 3 may be copied. The context is
 * current. */
CUresult structs_call(CUfunction kernel, unsigned blocks, unsigned threads,
                      const struct structs_argument *arguments, int count, CUstream stream);

#ifdef __cplusplus
}
#endif

#endif
