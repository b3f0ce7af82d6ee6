/* name: the names of kernels as people know them. */
#ifndef OVERLAP_EMULATOR_BASE_NAME_H
#define OVERLAP_EMULATOR_BASE_NAME_H

#include <stddef.h>

/* What C++ calls `scale` and PTX `_Z5scalePff`, or `_ZN4mine5scaleE...`: the last name that is
 * spelled out, without what it is inside of. Other names as they are. Cut at `size`. */
void name_plain(const char *name, char *text, size_t size);

#endif
