#include "emulator/fatbin/machine.h"
#include "emulator/fatbin/fatbin.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A linked image has one such section per unit, with a dot and a number behind the name. */
static const char ptx_section[] = ".nv_debug_ptx_txt";

struct sections {
    const unsigned char *bytes;
    size_t size;
    const unsigned char *table;
    size_t count;
    const char *names;
    size_t names_size;
};

bool machine_is_code(const unsigned char *bytes, size_t size)
{
    enum { EM_CUDA_CODE = 190 };
    static const unsigned char of_64_bits[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1};
    Elf64_Ehdr header;
    if (size != FATBIN_UNKNOWN_SIZE && size < sizeof header) return false;
    for (size_t i = 0; i < sizeof of_64_bits; i++)
        if (bytes[i] != of_64_bits[i]) return false;
    memcpy(&header, bytes, sizeof header);
    return header.e_type != ET_NONE && header.e_machine == EM_CUDA_CODE;
}

unsigned machine_arch(const unsigned char *bytes)
{
    enum { ABI_OF_CUDA_13 = 8 }; /* the flags have the architecture one byte further up since */
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    return (header.e_ident[EI_ABIVERSION] >= ABI_OF_CUDA_13 ? header.e_flags >> 8
                                                            : header.e_flags) &
           0xff;
}

static bool is_inside(const struct sections *sections, uint64_t offset, uint64_t size)
{
    return offset <= sections->size && size <= sections->size - offset;
}

static Elf64_Shdr section_at(const struct sections *sections, size_t i)
{
    Elf64_Shdr section;
    memcpy(&section, sections->table + i * sizeof section, sizeof section);
    return section;
}

/* Returns false if there are no sections, or the image is damaged. */
static bool open_sections(const unsigned char *bytes, size_t size, struct sections *sections)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    *sections = (struct sections){.bytes = bytes, .size = size};
    if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shstrndx >= header.e_shnum ||
        !is_inside(sections, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    sections->table = bytes + header.e_shoff;
    sections->count = header.e_shnum;
    const Elf64_Shdr names = section_at(sections, header.e_shstrndx);
    if (names.sh_type != SHT_STRTAB || !is_inside(sections, names.sh_offset, names.sh_size))
        return false;
    sections->names = (const char *)bytes + names.sh_offset;
    sections->names_size = names.sh_size;
    return true;
}

static bool is_ptx(const struct sections *sections, const Elf64_Shdr *section)
{
    const size_t length = sizeof ptx_section - 1;
    return section->sh_type == SHT_PROGBITS && section->sh_name < sections->names_size &&
           sections->names_size - section->sh_name > length &&
           memcmp(sections->names + section->sh_name, ptx_section, length) == 0 &&
           section->sh_size <= FATBIN_TEXT_LIMIT &&
           is_inside(sections, section->sh_offset, section->sh_size);
}

/* Each line ends with a zero there. */
static char *lines_of(const unsigned char *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) return NULL;
    for (size_t i = 0; i < size; i++) text[i] = bytes[i] != '\0' ? (char)bytes[i] : '\n';
    text[size] = '\0';
    return text;
}

bool machine_text(const unsigned char *bytes, size_t size, size_t *section, char **text,
                  size_t *length)
{
    struct sections sections;
    if (!open_sections(bytes, size, &sections)) return false;
    while (*section < sections.count) {
        const Elf64_Shdr found = section_at(&sections, (*section)++);
        if (!is_ptx(&sections, &found)) continue;
        *length = found.sh_size;
        *text = lines_of(bytes + found.sh_offset, found.sh_size);
        return true;
    }
    return false;
}
