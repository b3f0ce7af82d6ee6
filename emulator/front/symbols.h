/* symbols: the file of a loaded object, and its tables of symbols. Only reads, and believes no
 * number in the file that leads out of it. */
#ifndef OVERLAP_FRONT_SYMBOLS_H
#define OVERLAP_FRONT_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_file {
    const unsigned char *bytes;
    size_t size;
};

struct symbols {
    const ElfW(Sym) * rows;
    size_t count;
    const char *names;
    size_t names_size; /* the last byte of names is NUL */
};

/* Maps a file, which the caller ends with symbols_unmap. Returns false when it cannot be
 * read. */
bool symbols_map(const char *path, struct symbols_file *file);
void symbols_unmap(const struct symbols_file *file);
bool symbols_are_inside(const struct symbols_file *file, uint64_t offset, uint64_t size);
/* Returns the segments and sets how many they are; NULL: damaged. */
const ElfW(Phdr) * symbols_segments(const struct symbols_file *file, size_t *count);
/* Finds the symbol table of that type: SHT_SYMTAB or SHT_DYNSYM. Returns false when there is none
 * or it is damaged. */
bool symbols_find(const struct symbols_file *file, unsigned type, struct symbols *symbols);
/* The name of a function that is defined in the object, or NULL. */
const char *symbols_function_name(const struct symbols *symbols, size_t i);
/* The function or variable (STT_FUNC, STT_OBJECT) of that name that is defined in the object, or
 * NULL. */
const ElfW(Sym) * symbols_defined(const struct symbols *symbols, unsigned type, const char *wanted);
/* Returns true when the object uses a symbol of that name of another object. */
bool symbols_import(const struct symbols *symbols, const char *wanted);

#endif
