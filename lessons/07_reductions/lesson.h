/* Lesson 07: a reduction made from a binary operator.
 *
 * You write the body of Reduction<T, Operator>::operator() in reductions.cuh. It is a template, so
 * it is compiled together with whoever uses it, for types and operators that you have not seen.
 */
#ifndef OVERLAP_LESSONS_07_REDUCTIONS_LESSON_H
#define OVERLAP_LESSONS_07_REDUCTIONS_LESSON_H

#include <cuda_runtime.h>
#include <stddef.h>

/* A reduction. Made once from an operator and called as often as one likes, in any streams:
 *
 *     Reduction<long long, Sum> sum = {Sum()};
 *     cudaError_t error = sum(array, size, result, &start, stream);
 *
 * T         any trivially copyable type of up to 64 bytes, with a trivial constructor; its size
 *           need not be a power of two.
 * Operator  `__device__ T operator()(const T &a, const T &b) const`, associative and commutative,
 *           so elements may be combined in any order and grouping. Nothing is known of an identity
 *           element: there may be none. Trivially copyable; it may carry values of its own.
 */
template <typename T, typename Operator> struct Reduction {
    Operator combine;

    /* Yours. Queues, in `stream`, what combines array[0], array[1] ... array[size - 1], and `init`
     * where there is one, into *result.
     *
     * array   `size` elements in device memory, aligned as T is and no further. Read only, and each
     *         element once. There may be more of them than 32 bits count. May be NULL if size
     *         is 0.
     * result  one T in device memory, outside of `array`.
     * init    one more element, on the host, combined in exactly once; NULL: there is none. Read
     *         before the call returns, so it may live on the caller's stack.
     * stream  all that the reduction does on the device happens in this stream.
     *
     * With size 0 the result is `init`; without init there is nothing that the result could be:
     * cudaErrorInvalidValue, and *result stays as it was.
     *
     * Asynchronous: returns when the work is queued, without waiting for this stream or any other.
     * No wait is left to cudaFree or its kin, which wait on GPUs of today and promise nothing.
     * Returns cudaSuccess or the first error of a call; memory that it takes is given back, in
     * stream order, on every path. */
    cudaError_t operator()(const T *array, size_t size, T *result, const T *init,
                           cudaStream_t stream) const;
};

#endif
