/* Makes an object file executable. LLVM's own linker puts the sections of an object into memory
 * wherever there is room, also too far apart for the code, which reaches 2 GiB; the device reserves
 * so much address space that this happens. Here an object gets one piece of memory.
 *
 * Source: System V ABI, AMD64 supplement, 4.4 "Relocation". */
#include "emulator/exec/native/private.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct native_code {
    unsigned char *memory;
    size_t size;
    struct native_symbols functions; /* of the object, by name */
};

/* A jump to what does not have to be near: through the word in the table at that distance. */
static const unsigned char jump[] = {0xff, 0x25};
enum { STUB = 8, ENTRY = 8, PAGE = 4096 };

/* The state of one link. */
struct linking {
    const unsigned char *bytes; /* the file */
    size_t size;
    const Elf64_Shdr *sections;
    size_t section_count;
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *names; /* of symbols */
    size_t name_bytes;
    size_t *places;      /* per section: where it is in the memory; 0: it is not */
    size_t table, jumps; /* where a word and a stub for each symbol are */
    unsigned char *memory;
    size_t memory_size;
    uint64_t *values; /* of symbols */
};

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_inside(const struct linking *l, uint64_t offset, uint64_t size)
{
    return offset <= l->size && size <= l->size - offset && offset % sizeof(uint64_t) == 0;
}

static bool read_symbols(struct linking *l)
{
    for (size_t k = 0; k < l->section_count; k++) {
        const Elf64_Shdr *section = &l->sections[k];
        if (section->sh_type != SHT_SYMTAB) continue;
        if (!is_inside(l, section->sh_offset, section->sh_size) ||
            section->sh_link >= l->section_count)
            return false;
        const Elf64_Shdr *names = &l->sections[section->sh_link];
        if (names->sh_offset > l->size || names->sh_size > l->size - names->sh_offset ||
            names->sh_size == 0)
            return false;
        l->symbols = (const Elf64_Sym *)(const void *)(l->bytes + section->sh_offset);
        l->symbol_count = section->sh_size / sizeof *l->symbols;
        l->names = (const char *)l->bytes + names->sh_offset;
        l->name_bytes = names->sh_size;
        return l->names[l->name_bytes - 1] == '\0';
    }
    return false;
}

static bool read_file(struct linking *l)
{
    Elf64_Ehdr header;
    if (l->size < sizeof header) return false;
    memcpy(&header, l->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_REL ||
        header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
        !is_inside(l, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    l->sections = (const Elf64_Shdr *)(const void *)(l->bytes + header.e_shoff);
    l->section_count = header.e_shnum;
    return read_symbols(l);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Code and constants. What describes frames is left out: nothing unwinds them. */
static bool is_loaded(const Elf64_Shdr *section)
{
    return (section->sh_flags & SHF_ALLOC) && section->sh_type == SHT_PROGBITS &&
           section->sh_size > 0;
}

/* Gives each section, the table and the stubs a place. Returns false for a section that cannot be
 * loaded. */
static bool place(struct linking *l)
{
    size_t end = ENTRY; /* 0 means that there is no place */
    for (size_t k = 0; k < l->section_count; k++) {
        const Elf64_Shdr *section = &l->sections[k];
        if (section->sh_type == SHT_NOBITS && section->sh_size > 0) return false;
        if (!is_loaded(section)) continue;
        const size_t align = section->sh_addralign > ENTRY ? section->sh_addralign : ENTRY;
        if (align > PAGE || (align & (align - 1)) != 0 || section->sh_offset > l->size ||
            section->sh_size > l->size - section->sh_offset)
            return false;
        l->places[k] = (end + align - 1) & ~(align - 1);
        end = l->places[k] + section->sh_size;
    }
    l->table = (end + ENTRY - 1) & ~(size_t)(ENTRY - 1);
    l->jumps = l->table + l->symbol_count * ENTRY;
    l->memory_size = (l->jumps + l->symbol_count * STUB + PAGE - 1) & ~(size_t)(PAGE - 1);
    return l->memory_size < INT32_MAX;
}

/* Finds where a symbol is that the object does not define. */
static bool find(const struct native_symbols *known, const char *name, uint64_t *value)
{
    for (size_t k = 0; k < known->count; k++)
        if (!strcmp(known->list[k].name, name)) {
            *value = known->list[k].address;
            return true;
        }
    *value = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, name);
    return *value != 0;
}

static bool evaluate(struct linking *l, const struct native_symbols *known,
                     struct native_symbols *functions)
{
    for (size_t k = 1; k < l->symbol_count; k++) {
        const Elf64_Sym *symbol = &l->symbols[k];
        if (symbol->st_name >= l->name_bytes) return false;
        const char *name = l->names + symbol->st_name;
        if (symbol->st_shndx == SHN_UNDEF) {
            if (!find(known, name, &l->values[k])) return false;
            continue;
        }
        if (symbol->st_shndx >= l->section_count || l->places[symbol->st_shndx] == 0) continue;
        l->values[k] =
            (uint64_t)(uintptr_t)l->memory + l->places[symbol->st_shndx] + symbol->st_value;
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL && strlen(name) < NATIVE_NAME &&
            !native_symbol_add(functions, name, l->values[k]))
            return false;
    }
    return true;
}

static void fill(struct linking *l)
{
    for (size_t k = 0; k < l->section_count; k++)
        if (l->places[k] != 0)
            memcpy(l->memory + l->places[k], l->bytes + l->sections[k].sh_offset,
                   l->sections[k].sh_size);
    for (size_t k = 0; k < l->symbol_count; k++) {
        unsigned char *word = l->memory + l->table + k * ENTRY;
        unsigned char *stub = l->memory + l->jumps + k * STUB;
        const int32_t distance = (int32_t)(word - (stub + sizeof jump + sizeof(int32_t)));
        memcpy(word, &l->values[k], sizeof l->values[k]);
        memcpy(stub, jump, sizeof jump);
        memcpy(stub + sizeof jump, &distance, sizeof distance);
    }
}

/* ---- relocations ----------------------------------------------------------------------------- */

static bool relocate(struct linking *l, unsigned char *at, size_t room, const Elf64_Rela *rela)
{
    const size_t symbol = ELF64_R_SYM(rela->r_info);
    const bool far = l->symbols[symbol].st_shndx == SHN_UNDEF;
    uint64_t value = l->values[symbol];
    switch (ELF64_R_TYPE(rela->r_info)) {
    case R_X86_64_64:
        value += (uint64_t)rela->r_addend;
        if (room < sizeof value) return false;
        memcpy(at, &value, sizeof value);
        return true;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        value = (uint64_t)(uintptr_t)(l->memory + l->table + symbol * ENTRY);
        break;
    case R_X86_64_PLT32:
        if (far) value = (uint64_t)(uintptr_t)(l->memory + l->jumps + symbol * STUB);
        break;
    case R_X86_64_PC32:
        if (far) return false;
        break;
    default:
        return false;
    }
    const int64_t distance = (int64_t)(value + (uint64_t)rela->r_addend - (uint64_t)(uintptr_t)at);
    const int32_t stored = (int32_t)distance;
    if (stored != distance || room < sizeof stored) return false;
    memcpy(at, &stored, sizeof stored);
    return true;
}

static bool relocate_all(struct linking *l)
{
    for (size_t k = 0; k < l->section_count; k++) {
        const Elf64_Shdr *section = &l->sections[k];
        if (section->sh_type != SHT_RELA || section->sh_info >= l->section_count ||
            l->places[section->sh_info] == 0)
            continue;
        if (!is_inside(l, section->sh_offset, section->sh_size)) return false;
        const Elf64_Rela *list = (const Elf64_Rela *)(const void *)(l->bytes + section->sh_offset);
        unsigned char *begin = l->memory + l->places[section->sh_info];
        const uint64_t size = l->sections[section->sh_info].sh_size;
        for (size_t r = 0; r < section->sh_size / sizeof *list; r++)
            if (list[r].r_offset >= size || ELF64_R_SYM(list[r].r_info) >= l->symbol_count ||
                !relocate(l, begin + list[r].r_offset, size - list[r].r_offset, &list[r]))
                return false;
    }
    return true;
}

/* ---- the interface --------------------------------------------------------------------------- */

struct native_code *native_link(const void *object, size_t size, const struct native_symbols *known)
{
    struct linking l = {.bytes = object, .size = size};
    struct native_code *code = calloc(1, sizeof *code);
    bool fine = false;
    if (code == NULL || !read_file(&l)) goto out;
    l.places = calloc(l.section_count + 1, sizeof *l.places);
    l.values = calloc(l.symbol_count + 1, sizeof *l.values);
    if (l.places == NULL || l.values == NULL || !place(&l)) goto out;
    l.memory =
        mmap(NULL, l.memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (l.memory == MAP_FAILED) goto out;
    code->memory = l.memory;
    code->size = l.memory_size;
    if (!evaluate(&l, known, &code->functions)) goto out;
    fill(&l);
    fine = relocate_all(&l) && mprotect(l.memory, l.memory_size, PROT_READ | PROT_EXEC) == 0;
out:
    free(l.places);
    free(l.values);
    if (fine) return code;
    native_unlink(code);
    return NULL;
}

uint64_t native_address(const struct native_code *code, const char *name)
{
    for (size_t k = 0; k < code->functions.count; k++)
        if (!strcmp(code->functions.list[k].name, name)) return code->functions.list[k].address;
    return 0;
}

void native_unlink(struct native_code *code)
{
    if (code == NULL) return;
    if (code->memory != NULL) munmap(code->memory, code->size);
    native_symbols_end(&code->functions);
    free(code);
}
