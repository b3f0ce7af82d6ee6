/* sha256: the hash (FIPS 180-4) that names a built submission in the cache. With a weaker hash a
 * student could make a file that passes for another's.
 */
#ifndef OVERLAP_GRADER_BASE_SHA256_H
#define OVERLAP_GRADER_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_TEXT_SIZE 65 /* 64 hexadecimal digits and the terminating 0 */

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
/* Adds the string with its terminating 0, so that "ab","c" and "a","bc" differ. */
void sha256_add_string(struct sha256 *hash, const char *string);
/* Adds the file's contents. Returns 0, or -1 with errno. */
int sha256_add_file(struct sha256 *hash, const char *path);
/* Ends the hash and writes it as text. */
void sha256_end(struct sha256 *hash, char text[SHA256_TEXT_SIZE]);

#endif
