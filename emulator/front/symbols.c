#include "emulator/front/symbols.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool symbols_map(const char *path, struct symbols_file *file)
{
    struct stat status;
    void *bytes = MAP_FAILED;
    const int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return false;
    if (fstat(handle, &status) == 0 && status.st_size > (off_t)sizeof(ElfW(Ehdr)))
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, handle, 0);
    close(handle);
    if (bytes == MAP_FAILED) return false;
    *file = (struct symbols_file){bytes, (size_t)status.st_size};
    return true;
}

void symbols_unmap(const struct symbols_file *file)
{
    munmap((void *)file->bytes, file->size);
}

bool symbols_are_inside(const struct symbols_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

const ElfW(Phdr) * symbols_segments(const struct symbols_file *file, size_t *count)
{
    const ElfW(Ehdr) *start = (const void *)file->bytes;
    if (start->e_phentsize != sizeof(ElfW(Phdr)) || start->e_phoff % _Alignof(ElfW(Phdr)) != 0 ||
        !symbols_are_inside(file, start->e_phoff, (uint64_t)start->e_phnum * sizeof(ElfW(Phdr))))
        return NULL;
    *count = start->e_phnum;
    return (const void *)(file->bytes + start->e_phoff);
}

bool symbols_find(const struct symbols_file *file, unsigned type, struct symbols *symbols)
{
    const ElfW(Ehdr) *start = (const void *)file->bytes;
    if (memcmp(start->e_ident, ELFMAG, SELFMAG) != 0 || start->e_shentsize != sizeof(ElfW(Shdr)) ||
        start->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
        !symbols_are_inside(file, start->e_shoff, (uint64_t)start->e_shnum * sizeof(ElfW(Shdr))))
        return false;
    const ElfW(Shdr) *sections = (const void *)(file->bytes + start->e_shoff);
    for (size_t i = 0; i < start->e_shnum; i++) {
        const ElfW(Shdr) *table = &sections[i];
        if (table->sh_type != type || table->sh_link >= start->e_shnum) continue;
        const ElfW(Shdr) *names = &sections[table->sh_link];
        if (!symbols_are_inside(file, table->sh_offset, table->sh_size) ||
            table->sh_offset % _Alignof(ElfW(Sym)) != 0 || names->sh_size == 0 ||
            !symbols_are_inside(file, names->sh_offset, names->sh_size) ||
            file->bytes[names->sh_offset + names->sh_size - 1] != '\0')
            return false;
        symbols->rows = (const void *)(file->bytes + table->sh_offset);
        symbols->count = table->sh_size / sizeof(ElfW(Sym));
        symbols->names = (const char *)file->bytes + names->sh_offset;
        symbols->names_size = names->sh_size;
        return true;
    }
    return false;
}

static const char *defined_name(const struct symbols *symbols, unsigned type, size_t i)
{
    const ElfW(Sym) *symbol = &symbols->rows[i];
    return ELF64_ST_TYPE(symbol->st_info) == type && symbol->st_shndx != SHN_UNDEF &&
                   symbol->st_name < symbols->names_size
               ? symbols->names + symbol->st_name
               : NULL;
}

const char *symbols_function_name(const struct symbols *symbols, size_t i)
{
    return defined_name(symbols, STT_FUNC, i);
}

const ElfW(Sym) * symbols_defined(const struct symbols *symbols, unsigned type, const char *wanted)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const char *name = defined_name(symbols, type, i);
        if (name != NULL && strcmp(name, wanted) == 0) return &symbols->rows[i];
    }
    return NULL;
}

bool symbols_import(const struct symbols *symbols, const char *wanted)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const ElfW(Sym) *symbol = &symbols->rows[i];
        if (symbol->st_shndx == SHN_UNDEF && symbol->st_name < symbols->names_size &&
            strcmp(symbols->names + symbol->st_name, wanted) == 0)
            return true;
    }
    return false;
}
