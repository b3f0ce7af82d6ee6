/* name: readable names of kernels and of functions. */
#ifndef OVERLAP_EMULATOR_BASE_NAME_H
#define OVERLAP_EMULATOR_BASE_NAME_H

#include <stddef.h>

/* Writes the readable name of a kernel or a function: for a C++ name mangled as `_Z5scalePff`,
 * `_ZL5scalePff` or `_ZN4mine5scaleE...`, its last identifier without the scopes around it
 * (`scale`). Any other name is copied as it is. The result is truncated to `size` bytes. */
void name_plain(const char *name, char *text, size_t size);

#endif
