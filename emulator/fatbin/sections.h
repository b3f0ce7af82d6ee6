/* sections: the sections of an ELF image of 64 bits, by number and by name. Every header is checked
 * against the bytes that are there.
 *
 * Source: elf(5).
 */
#ifndef OVERLAP_FATBIN_SECTIONS_H
#define OVERLAP_FATBIN_SECTIONS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

struct span {
    const unsigned char *bytes;
    size_t size;
};

struct sections {
    struct span image;
    const unsigned char *table;
    size_t count;
    struct span names;
};

struct section {
    const char *name; /* zero-terminated */
    Elf64_Word type;
    struct span content;
};

/* Returns false if there are none or the image, whose identification has been checked, is damaged.
 */
bool sections_open(const unsigned char *bytes, size_t size, struct sections *sections);
/* Returns false if section `i` has no content or its header is damaged. */
bool sections_at(const struct sections *sections, size_t i, struct section *section);
bool sections_find(const struct sections *sections, const char *name, struct section *section);

#endif
