/* golden: the results of a device, as hashes (a committed text file) and as outputs (a binary file
 * for examining differences).
 *
 * A golden file has lines `group variant=hash.of variant=hash.of ...`; `of` is a hash of the
 * kernel's text and input, so that a case that has changed since then counts as new. A case that
 * did not run is a line `# group/variant: why`.
 */
#ifndef OVERLAP_TESTS_DIFFERENTIAL_GOLDEN_H
#define OVERLAP_TESTS_DIFFERENTIAL_GOLDEN_H

#include "tests/differential/run.h"

#include <stdio.h>

struct diff_golden {
    struct diff_golden_line {
        char name[64];
        uint64_t hash;
        uint16_t of;
    } * lines;
    size_t count, room;
};

/* Returns false when the file cannot be read, and reports that. */
bool diff_golden_read(struct diff_golden *golden, const char *path);
bool diff_golden_find(const struct diff_golden *golden, const struct diff_case *one,
                      uint64_t *hash);
void diff_golden_free(struct diff_golden *golden);
/* Called in the order of the cases. */
void diff_golden_write(FILE *file, const struct diff_case *one, const struct diff_result *result);

struct diff_outputs {
    unsigned char *bytes;
    size_t size;
};

void diff_outputs_write(FILE *file, const struct diff_case *one, const unsigned char *out);
void diff_outputs_read(struct diff_outputs *outputs, const char *path); /* appends */
/* Returns NULL when there is none of this name and size. */
const unsigned char *diff_outputs_find(const struct diff_outputs *outputs,
                                       const struct diff_case *one);

#endif
