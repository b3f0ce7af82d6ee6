#include "emulator/front/patch.h"

#include "emulator/front/stripped.h"
#include "emulator/front/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The name of a function of the runtime, or NULL. */
static const char *function_name(const struct symbols *symbols, size_t i)
{
    const char *name = symbols_function_name(symbols, i);
    return name != NULL && (strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0)
               ? name
               : NULL;
}

static bool has(const struct symbols *symbols, const char *function)
{
    return symbols_defined(symbols, STT_FUNC, function) != NULL;
}

/* Returns the device's library for the runtime that the object contains as a whole; NULL: there is
 * none, or the object has none. Only CUDA 12's has a second cudaGetDeviceProperties, and only CUDA
 * 13's __cudaLaunchKernel. */
static const struct link_map *runtime_for(const struct symbols *symbols,
                                          const struct patch_runtimes *runtimes)
{
    if (!has(symbols, "cudaGetDeviceCount") || !has(symbols, "__cudaRegisterFatBinary"))
        return NULL;
    if (has(symbols, "cudaGetDeviceProperties_v2")) return runtimes->of_12;
    return has(symbols, "__cudaLaunchKernel") ? runtimes->of_13 : NULL;
}

/* ---- jumps --------------------------------------------------------------------------------- */

/* Writes a jump through an address that is stored behind the jump, or nearby. */
#if defined __x86_64__
enum { JUMP_BYTES = 6, PADDED = 16 }; /* functions begin at multiples of 16 bytes */

static bool write_jump(unsigned char *at, const unsigned char *address)
{
    const ptrdiff_t away = address - (at + JUMP_BYTES);
    const int32_t distance = (int32_t)away;
    if (distance != away) return false;
    memcpy(at, (const unsigned char[]){0xff, 0x25}, 2); /* jmp *distance(%rip) */
    memcpy(at + 2, &distance, sizeof distance);
    return true;
}
#elif defined __aarch64__
enum { JUMP_BYTES = 8, PADDED = 4 };

static bool write_jump(unsigned char *at, const unsigned char *address)
{
    const ptrdiff_t words = (address - at) / 4;
    if (words < -(1 << 18) || words >= 1 << 18) return false;
    const uint32_t code[] = {0x58000010 | ((uint32_t)words & 0x7ffff) << 5, /* ldr x16, words */
                             0xd61f0200};                                   /* br x16 */
    memcpy(at, code, sizeof code);
    return true;
}
#else
#error "say how this machine jumps to an address that lies near"
#endif
enum { ADDRESS_BYTES = sizeof(uint64_t) };

/* Bytes at the beginning of a function that belong to it alone, including its padding. */
static size_t room_of(const ElfW(Sym) * symbol)
{
    const size_t size = symbol->st_size;
    return symbol->st_value % PADDED == 0 ? (size + PADDED - 1) / PADDED * PADDED : size;
}

/* Space for the addresses of functions that have no room for them: the longest function that is
 * never called any more. */
struct spare {
    unsigned char *at;
    size_t bytes;
};

static struct spare find_spare(const struct symbols *theirs, ElfW(Addr) base,
                               const struct symbols *ours)
{
    const size_t used = JUMP_BYTES + ADDRESS_BYTES;
    struct spare spare = {NULL, 0};
    for (size_t i = 0; i < theirs->count; i++) {
        const ElfW(Sym) *symbol = &theirs->rows[i];
        const char *name = function_name(theirs, i);
        if (name != NULL && symbol->st_size > used + spare.bytes &&
            symbols_defined(ours, STT_FUNC, name))
            spare = (struct spare){(unsigned char *)(base + symbol->st_value) + used,
                                   symbol->st_size - used};
    }
    return spare;
}

/* Redirects one function. A function without room for a jump stays as it is; calls that it makes to
 * the device are then reported. */
static void replace(const ElfW(Sym) * symbol, ElfW(Addr) base, uint64_t to, struct spare *spare)
{
    unsigned char *at = (unsigned char *)(base + symbol->st_value), *address = at + JUMP_BYTES;
    const size_t room = room_of(symbol);
    if (room < JUMP_BYTES) return;
    if (room < JUMP_BYTES + ADDRESS_BYTES) {
        if (spare->bytes < ADDRESS_BYTES) return;
        address = spare->at;
        spare->at += ADDRESS_BYTES;
        spare->bytes -= ADDRESS_BYTES;
    }
    memcpy(address, &to, sizeof to);
    if (write_jump(at, address)) __builtin___clear_cache((char *)at, (char *)at + JUMP_BYTES);
}

static void write_jumps(const struct symbols *theirs, ElfW(Addr) base, const struct symbols *ours,
                        ElfW(Addr) our_base)
{
    struct spare spare = find_spare(theirs, base, ours);
    for (size_t i = 0; i < theirs->count; i++) {
        const char *name = function_name(theirs, i);
        const ElfW(Sym) *to = name != NULL ? symbols_defined(ours, STT_FUNC, name) : NULL;
        if (to != NULL) replace(&theirs->rows[i], base, our_base + to->st_value, &spare);
    }
}

/* Sets the protection of the pages of all functions to be changed. */
static bool set_protection(const struct symbols *theirs, ElfW(Addr) base, int protection)
{
    const ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    ElfW(Addr) low = UINTPTR_MAX, high = 0;
    for (size_t i = 0; i < theirs->count; i++) {
        if (function_name(theirs, i) == NULL) continue;
        const ElfW(Addr) value = theirs->rows[i].st_value;
        if (value < low) low = value;
        if (value + room_of(&theirs->rows[i]) > high) high = value + room_of(&theirs->rows[i]);
    }
    low = (base + low) / page * page;
    high = (base + high + page - 1) / page * page;
    return mprotect((void *)low, high - low, protection) == 0;
}

static bool map_object(const struct link_map *object, struct symbols_file *file)
{
    return symbols_map(*object->l_name != '\0' ? object->l_name : "/proc/self/exe", file);
}

unsigned patch_runtime(const struct link_map *object, const struct patch_runtimes *runtimes)
{
    const struct link_map *runtime = NULL;
    struct symbols_file file, our_file;
    struct symbols theirs, ours;
    unsigned version = 0;
    void *owned = NULL;
    if (!map_object(object, &file)) return 0;
    if (symbols_find(&file, SHT_SYMTAB, &theirs)) runtime = runtime_for(&theirs, runtimes);
    if (runtime == NULL) {
        version = stripped_find(&file, &theirs);
        if (version != 0) owned = (void *)theirs.rows;
        if (version != 0) runtime = runtime_for(&theirs, runtimes);
    }
    if (runtime != NULL && map_object(runtime, &our_file)) {
        if (symbols_find(&our_file, SHT_DYNSYM, &ours) &&
            set_protection(&theirs, object->l_addr, PROT_READ | PROT_WRITE | PROT_EXEC)) {
            write_jumps(&theirs, object->l_addr, &ours, runtime->l_addr);
            set_protection(&theirs, object->l_addr, PROT_READ | PROT_EXEC);
        }
        symbols_unmap(&our_file);
    }
    free(owned);
    symbols_unmap(&file);
    return version;
}

/* ---- variables that are called as functions ------------------------------------------------ */

/* The name of a public pointer that may be called as one of the driver's functions, or NULL. */
static const char *pointer_name(const struct symbols *symbols, size_t i)
{
    const ElfW(Sym) *symbol = &symbols->rows[i];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_size != sizeof(void *) || symbol->st_name >= symbols->names_size)
        return NULL;
    const char *name = symbols->names + symbol->st_name;
    return strncmp(name, "cu", 2) == 0 ? name : NULL;
}

static bool has_pointers(const struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (pointer_name(symbols, i) != NULL) return true;
    return false;
}

/* The symbols as the dynamic linker reads them. */
static ElfW(Sym) * symbols_of(const struct link_map *object)
{
    const ElfW(Dyn) *row = object->l_ld;
    while (row->d_tag != DT_SYMTAB && row->d_tag != DT_NULL) row++;
    if (row->d_tag == DT_NULL) return NULL;
    const ElfW(Addr) at = row->d_un.d_ptr; /* an address already, or to become one */
    return (ElfW(Sym) *)(at < object->l_addr ? object->l_addr + at : at);
}

/* The protection of what the file has at this address. */
static int protection_of(const struct symbols_file *file, ElfW(Addr) value)
{
    size_t count = 0;
    const ElfW(Phdr) *parts = symbols_segments(file, &count);
    for (size_t i = 0; i < count; i++)
        if (parts[i].p_type == PT_LOAD && value - parts[i].p_vaddr < parts[i].p_memsz)
            return (parts[i].p_flags & PF_R ? PROT_READ : 0) |
                   (parts[i].p_flags & PF_W ? PROT_WRITE : 0) |
                   (parts[i].p_flags & PF_X ? PROT_EXEC : 0);
    return PROT_READ;
}

/* A hidden symbol binds where it is defined. */
static void hide(ElfW(Sym) * symbol, int protection)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)symbol / page * page;
    const size_t bytes = (uintptr_t)(symbol + 1) - first;
    if (mprotect((void *)first, bytes, protection | PROT_WRITE) != 0) return;
    symbol->st_other = (unsigned char)((symbol->st_other & ~3u) | STV_HIDDEN);
    mprotect((void *)first, bytes, protection);
}

void patch_variables(const struct link_map *object, const char *driver)
{
    struct symbols_file file, our_file;
    struct symbols theirs, ours;
    ElfW(Sym) *symbols = symbols_of(object);
    if (*object->l_name == '\0' || symbols == NULL || !map_object(object, &file)) return;
    if (symbols_find(&file, SHT_DYNSYM, &theirs) && has_pointers(&theirs) &&
        symbols_map(driver, &our_file)) {
        const ElfW(Addr) at = (ElfW(Addr))symbols - object->l_addr;
        const int protection = protection_of(&file, at);
        const bool known = symbols_find(&our_file, SHT_DYNSYM, &ours);
        for (size_t i = 0; i < theirs.count && known; i++) {
            const char *name = pointer_name(&theirs, i);
            if (name != NULL && symbols_defined(&ours, STT_FUNC, name) != NULL)
                hide(&symbols[i], protection);
        }
        symbols_unmap(&our_file);
    }
    symbols_unmap(&file);
}

uintptr_t patch_defined(const struct link_map *object, unsigned type, const char *name)
{
    struct symbols_file file;
    struct symbols symbols;
    uintptr_t address = 0;
    if (!map_object(object, &file)) return 0;
    if (symbols_find(&file, SHT_DYNSYM, &symbols)) {
        const ElfW(Sym) *symbol = symbols_defined(&symbols, type, name);
        if (symbol != NULL) address = object->l_addr + symbol->st_value;
    }
    symbols_unmap(&file);
    return address;
}
