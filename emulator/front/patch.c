#include "emulator/front/patch.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- symbols ------------------------------------------------------------------------------- */

struct file {
    const unsigned char *bytes;
    size_t size;
};

struct symbols {
    const ElfW(Sym) * rows;
    size_t count;
    const char *names;
    size_t names_size; /* the last byte of names is zero */
};

static bool map_file(const struct link_map *object, struct file *file)
{
    const char *path = *object->l_name != '\0' ? object->l_name : "/proc/self/exe";
    struct stat status;
    void *bytes = MAP_FAILED;
    const int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return false;
    if (fstat(handle, &status) == 0 && status.st_size > (off_t)sizeof(ElfW(Ehdr)))
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, handle, 0);
    close(handle);
    if (bytes == MAP_FAILED) return false;
    *file = (struct file){bytes, (size_t)status.st_size};
    return true;
}

static void unmap_file(const struct file *file)
{
    munmap((void *)file->bytes, file->size);
}

static bool is_inside(const struct file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

/* The symbol table of that type; false: there is none, or it is damaged. */
static bool find_symbols(const struct file *file, unsigned type, struct symbols *symbols)
{
    const ElfW(Ehdr) *start = (const void *)file->bytes;
    if (memcmp(start->e_ident, ELFMAG, SELFMAG) != 0 || start->e_shentsize != sizeof(ElfW(Shdr)) ||
        start->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
        !is_inside(file, start->e_shoff, (uint64_t)start->e_shnum * sizeof(ElfW(Shdr))))
        return false;
    const ElfW(Shdr) *sections = (const void *)(file->bytes + start->e_shoff);
    for (size_t i = 0; i < start->e_shnum; i++) {
        const ElfW(Shdr) *table = &sections[i];
        if (table->sh_type != type || table->sh_link >= start->e_shnum) continue;
        const ElfW(Shdr) *names = &sections[table->sh_link];
        if (!is_inside(file, table->sh_offset, table->sh_size) ||
            table->sh_offset % _Alignof(ElfW(Sym)) != 0 || names->sh_size == 0 ||
            !is_inside(file, names->sh_offset, names->sh_size) ||
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

/* A function that is defined there: its name, or NULL. */
static const char *any_function_name(const struct symbols *symbols, size_t i)
{
    const ElfW(Sym) *symbol = &symbols->rows[i];
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
                   symbol->st_name < symbols->names_size
               ? symbols->names + symbol->st_name
               : NULL;
}

/* One of the runtime's kind. */
static const char *function_name(const struct symbols *symbols, size_t i)
{
    const char *name = any_function_name(symbols, i);
    return name != NULL && (strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0)
               ? name
               : NULL;
}

static const ElfW(Sym) * find_function(const struct symbols *symbols, const char *wanted)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const char *name = any_function_name(symbols, i);
        if (name != NULL && strcmp(name, wanted) == 0) return &symbols->rows[i];
    }
    return NULL;
}

/* The whole runtime, and CUDA 13's: that of CUDA 12 has a second cudaGetDeviceProperties. */
static bool has_runtime(const struct symbols *symbols)
{
    return find_function(symbols, "cudaGetDeviceCount") != NULL &&
           find_function(symbols, "__cudaRegisterFatBinary") != NULL &&
           find_function(symbols, "__cudaLaunchKernel") != NULL &&
           find_function(symbols, "cudaGetDeviceProperties_v2") == NULL;
}

/* ---- jumps --------------------------------------------------------------------------------- */

#if defined __x86_64__
static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
#elif defined __aarch64__
static const unsigned char jump[] = {0x50, 0,    0,    0x58,
                                     0,    0x02, 0x1f, 0xd6}; /* ldr x16, 8; br x16 */
#else
#error "say how this machine jumps to an address that follows"
#endif
/* Functions begin at multiples of 16 bytes, so that none behind is touched. */
enum { JUMP_BYTES = sizeof jump + sizeof(uint64_t) };
_Static_assert(JUMP_BYTES <= 16, "a jump is no longer than the shortest function with its padding");

static void write_jump(unsigned char *at, uint64_t to)
{
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &to, sizeof to);
    __builtin___clear_cache((char *)at, (char *)at + JUMP_BYTES);
}

static void write_jumps(const struct symbols *theirs, ElfW(Addr) base, const struct symbols *ours,
                        ElfW(Addr) our_base)
{
    for (size_t i = 0; i < theirs->count; i++) {
        const char *name = function_name(theirs, i);
        const ElfW(Sym) *to = name != NULL ? find_function(ours, name) : NULL;
        const ElfW(Addr) from = theirs->rows[i].st_value;
        if (to == NULL || from % 16 != 0) continue;
        write_jump((unsigned char *)(base + from), our_base + to->st_value);
    }
}

/* The pages of all that is to be changed. */
static bool set_protection(const struct symbols *theirs, ElfW(Addr) base, int protection)
{
    const ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    ElfW(Addr) low = UINTPTR_MAX, high = 0;
    for (size_t i = 0; i < theirs->count; i++) {
        if (function_name(theirs, i) == NULL) continue;
        const ElfW(Addr) value = theirs->rows[i].st_value;
        if (value < low) low = value;
        if (value + JUMP_BYTES > high) high = value + JUMP_BYTES;
    }
    low = (base + low) / page * page;
    high = (base + high + page - 1) / page * page;
    return mprotect((void *)low, high - low, protection) == 0;
}

void patch_runtime(const struct link_map *object, const struct link_map *runtime)
{
    struct file file, our_file;
    struct symbols theirs, ours;
    if (!map_file(object, &file)) return;
    if (find_symbols(&file, SHT_SYMTAB, &theirs) && has_runtime(&theirs) &&
        map_file(runtime, &our_file)) {
        if (find_symbols(&our_file, SHT_DYNSYM, &ours) &&
            set_protection(&theirs, object->l_addr, PROT_READ | PROT_WRITE | PROT_EXEC)) {
            write_jumps(&theirs, object->l_addr, &ours, runtime->l_addr);
            set_protection(&theirs, object->l_addr, PROT_READ | PROT_EXEC);
        }
        unmap_file(&our_file);
    }
    unmap_file(&file);
}

uintptr_t patch_function(const struct link_map *object, const char *name)
{
    struct file file;
    struct symbols symbols;
    uintptr_t address = 0;
    if (!map_file(object, &file)) return 0;
    if (find_symbols(&file, SHT_DYNSYM, &symbols)) {
        const ElfW(Sym) *symbol = find_function(&symbols, name);
        if (symbol != NULL) address = object->l_addr + symbol->st_value;
    }
    unmap_file(&file);
    return address;
}
