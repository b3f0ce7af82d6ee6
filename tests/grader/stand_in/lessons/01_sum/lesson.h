/* The contract of the stand-in lesson 01: the sum of an array, stored by the device. */
#ifndef LESSON_SUM_H
#define LESSON_SUM_H

#include <stddef.h>

/* Adds up `count` numbers; each costs the device 100 ns. The sum is in *result when it returns.
 * Returns 0 or the device's error. */
int sum_array(const int *values, size_t count, int *result);

#endif
