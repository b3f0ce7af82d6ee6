/* Shared functions of the tests of libcuda.so.1: a context, a few kernels, the orders, the trace.
 *
 * Every test runs in a process of its own (Check forks), so it chooses its order before cuInit.
 */
#ifndef OVERLAP_TESTS_DRIVER_SUPPORT_H
#define OVERLAP_TESTS_DRIVER_SUPPORT_H

#include <check.h>
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        CUresult ok_code = (call);                                                                 \
        ck_assert_msg(ok_code == CUDA_SUCCESS, "%s returned %d", #call, (int)ok_code);             \
    } while (0)
#define FAILS(wanted, call)                                                                        \
    do {                                                                                           \
        CUresult fails_code = (call);                                                              \
        ck_assert_msg(fails_code == (wanted), "%s returned %d instead of %d", #call,               \
                      (int)fails_code, (int)(wanted));                                             \
    } while (0)

/* The orders of a loop test, by its index; LATEST is index 0. */
enum { LATEST, EARLIEST, RANDOM_1, RANDOM_2, ORDERS };

/* Chooses the order and starts a trace (read by test_trace). Call it before any CUDA call. */
void test_begin(int order);

/* The context that test_context makes current, and the module below. */
extern CUcontext test_context_handle;
extern CUmodule test_module;
/* Calls test_begin and cuInit and makes a context. */
void test_context(int order);
/* The part of test_context after test_begin. */
void test_start(void);
/* Loads the module below into the current context. */
void test_load(void);

/* Kernels of test_module: one thread per element, n elements of 32 bits.
 *   set(p, value, n)   p[i] = value
 *   add(p, value, n)   p[i] += value
 *   copy(to, from, n)  to[i] = from[i]
 *   slow(p, value, n)  as set, after a loop of 20000 steps
 *   reverse(p, n)      by one thread: needs all of p
 *   beyond(p, n)       stores one element past the end
 *   misaligned(p, n)   stores at p + 2
 *   trap(p, n)         trap
 *   endless(p, n)      never ends */
CUfunction test_kernel(const char *name);
/* Launches a kernel over n elements; arguments are a device pointer and one or two numbers. */
CUresult test_launch(const char *name, CUstream stream, CUdeviceptr p, uint64_t second, int n);

/* Writes a fat binary with one entry of uncompressed PTX. Returns its size. */
size_t test_fat_binary(unsigned char *bytes, const char *text);

/* Allocations that end the test on failure. */
CUdeviceptr test_device(size_t bytes);
void *test_pinned(size_t bytes);
CUstream test_stream(unsigned flags);
CUevent test_event(unsigned flags);

/* Returns the records written so far. Ends the test when the trace cannot be read. */
const struct trace *test_trace(void);
/* The number of records of this kind and what (0: any), with this name (NULL: any). */
size_t test_count(uint32_t kind, uint32_t what, const char *name);
const struct trace_record *test_find(uint32_t kind, uint32_t what, const char *name);
/* Returns the sentence of a finding, with addresses in place of lines, valid until the next call;
 * and its source file. */
const char *test_sentence(const struct trace_record *finding);
const char *test_file(const struct trace_record *finding);

/* Runs the suite; returns the result for main. */
int test_main(Suite *suite);

#endif
