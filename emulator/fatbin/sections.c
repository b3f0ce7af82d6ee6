#include "emulator/fatbin/sections.h"

#include <stdint.h>
#include <string.h>

static bool part_of(const struct span *whole, uint64_t offset, uint64_t size, struct span *part)
{
    if (offset > whole->size || size > whole->size - offset) return false;
    *part = (struct span){whole->bytes + offset, (size_t)size};
    return true;
}

static Elf64_Shdr header_at(const struct sections *sections, size_t i)
{
    Elf64_Shdr header;
    memcpy(&header, sections->table + i * sizeof header, sizeof header);
    return header;
}

bool sections_open(const unsigned char *bytes, size_t size, struct sections *sections)
{
    Elf64_Ehdr image;
    struct span table;
    memcpy(&image, bytes, sizeof image);
    *sections = (struct sections){.image = {bytes, size}, .count = image.e_shnum};
    if (image.e_shoff == 0 || image.e_shentsize != sizeof(Elf64_Shdr) ||
        image.e_shstrndx >= image.e_shnum ||
        !part_of(&sections->image, image.e_shoff, (uint64_t)image.e_shnum * sizeof(Elf64_Shdr),
                 &table))
        return false;
    sections->table = table.bytes;
    const Elf64_Shdr names = header_at(sections, image.e_shstrndx);
    return names.sh_type == SHT_STRTAB &&
           part_of(&sections->image, names.sh_offset, names.sh_size, &sections->names);
}

bool sections_at(const struct sections *sections, size_t i, struct section *section)
{
    const Elf64_Shdr header = header_at(sections, i);
    struct span name;
    if (header.sh_type == SHT_NULL || header.sh_type == SHT_NOBITS ||
        header.sh_name >= sections->names.size ||
        !part_of(&sections->names, header.sh_name, sections->names.size - header.sh_name, &name) ||
        memchr(name.bytes, '\0', name.size) == NULL)
        return false;
    section->name = (const char *)name.bytes;
    section->type = header.sh_type;
    return part_of(&sections->image, header.sh_offset, header.sh_size, &section->content);
}

bool sections_find(const struct sections *sections, const char *name, struct section *section)
{
    for (size_t i = 0; i < sections->count; i++)
        if (sections_at(sections, i, section) && strcmp(section->name, name) == 0) return true;
    return false;
}
