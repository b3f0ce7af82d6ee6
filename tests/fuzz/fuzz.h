/* fuzz: libFuzzer's entry, the only function of every fuzz target. A target passes arbitrary bytes
 * to one reader of outside input, and aborts only where a promise of that reader is broken;
 * crashes, leaks, hangs and memory use are detected by the driver (libFuzzer, or replay.c in the
 * ordinary tests).
 */
#ifndef OVERLAP_TESTS_FUZZ_FUZZ_H
#define OVERLAP_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Runs the target on `size` bytes; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
