/* fuzz: what every fuzz target here offers, and nothing more: libFuzzer's entry. A target takes any
 * bytes, feeds them to one reader of input from outside, and aborts only where a promise of that
 * reader is broken; crashes, leaks, hangs and memory are for whoever drives it to see (libFuzzer,
 * or replay.c in the ordinary tests).
 */
#ifndef OVERLAP_TESTS_FUZZ_FUZZ_H
#define OVERLAP_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Runs the target on `size` bytes; returns 0, always. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
