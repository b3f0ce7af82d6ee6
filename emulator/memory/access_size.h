/* access_size: how many bytes of memory a host instruction loads or stores, from its code alone.
 * For reports of an access that trapped: the system says only where it begins.
 */
#ifndef OVERLAP_MEMORY_ACCESS_SIZE_H
#define OVERLAP_MEMORY_ACCESS_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* An instruction of x86-64 has at most so many bytes. */
enum { ACCESS_SIZE_CODE = 15 };

/* Returns the number of bytes; 0: not known, as of one that repeats, or on another processor than
 * x86-64. `code` holds ACCESS_SIZE_CODE bytes, of which those behind the instruction may be
 * anything. */
unsigned access_size(const uint8_t code[ACCESS_SIZE_CODE]);

#endif
