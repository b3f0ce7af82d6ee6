#include "emulator/fatbin/machine.h"
#include "emulator/fatbin/fatbin.h"
#include "emulator/fatbin/lines.h"
#include "emulator/fatbin/sections.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A linked image has one such section per unit, with a dot and a number behind the name. */
static const char ptx_section[] = ".nv_debug_ptx_txt";

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

static bool is_ptx(const struct section *section)
{
    return section->type == SHT_PROGBITS && section->content.size <= FATBIN_TEXT_LIMIT &&
           strncmp(section->name, ptx_section, sizeof ptx_section - 1) == 0;
}

/* Each line ends with a zero there. */
static char *lines_of(const struct span *content)
{
    char *text = malloc(content->size + 1);
    if (text == NULL) return NULL;
    for (size_t i = 0; i < content->size; i++)
        text[i] = content->bytes[i] != '\0' ? (char)content->bytes[i] : '\n';
    text[content->size] = '\0';
    return text;
}

bool machine_text(const unsigned char *bytes, size_t size, size_t *section, char **text,
                  size_t *length)
{
    struct sections sections;
    struct section found;
    if (!sections_open(bytes, size, &sections)) return false;
    while (*section < sections.count) {
        if (!sections_at(&sections, (*section)++, &found) || !is_ptx(&found)) continue;
        *length = found.content.size;
        *text = lines_of(&found.content);
        char *placed = *text != NULL ? lines_put(&sections, found.name, *text) : NULL;
        if (placed == NULL) return true;
        free(*text);
        *text = placed;
        *length = strlen(placed);
        return true;
    }
    return false;
}
