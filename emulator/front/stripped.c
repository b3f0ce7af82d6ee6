#include "emulator/front/stripped.h"

#include <stdlib.h>
#include <string.h>

/* Functions and pieces begin at multiples of ALIGNED, as the code itself does. */
enum { PIECE_BYTES = 32, ALIGNED = 16 };
#define NONE UINT32_MAX

static const struct {
    unsigned number;
    uint32_t bytes; /* of its code */
} versions[] = {
#define RUNTIME(number, name, bytes) {number, bytes},
#define PIECE(version, place, sum)
#define FUNCTION(name, ...)
#include "emulator/front/runtimes.def"
#undef RUNTIME
#undef PIECE
#undef FUNCTION
};
enum { VERSIONS = sizeof versions / sizeof *versions };

static const struct piece {
    uint32_t version, place;
    uint64_t sum;
} pieces[] = {
#define RUNTIME(number, name, bytes)
#define PIECE(version, place, sum) {version, place, sum},
#define FUNCTION(name, ...)
#include "emulator/front/runtimes.def"
#undef PIECE
#undef FUNCTION
};
enum { PIECES = sizeof pieces / sizeof *pieces, PIECES_EACH = PIECES / VERSIONS };
_Static_assert(PIECES % VERSIONS == 0, "as many pieces for each version, in the versions' order");

static const uint32_t places[][VERSIONS] = {
#define PIECE(version, place, sum)
#define FUNCTION(name, ...) {__VA_ARGS__},
#include "emulator/front/runtimes.def"
#undef FUNCTION
};
enum { FUNCTIONS = sizeof places / sizeof *places };

/* One after the other, each with its NUL: a single string would be longer than C promises. */
static const struct {
#define FUNCTION(name, ...) char name[sizeof #name];
#include "emulator/front/runtimes.def"
#undef FUNCTION
} names = {
#define FUNCTION(name, ...) #name,
#include "emulator/front/runtimes.def"
};
#undef RUNTIME
#undef PIECE
#undef FUNCTION

static uint64_t sum_of(const unsigned char *bytes)
{
    uint64_t sum = 0, words[PIECE_BYTES / 8];
    memcpy(words, bytes, sizeof words);
    for (size_t i = 0; i < PIECE_BYTES / 8; i++) {
        sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
    }
    return sum;
}

/* Returns true when that version's code begins at `at`. */
static bool is_version(const unsigned char *code, size_t bytes, size_t at, size_t version)
{
    if (bytes - at < versions[version].bytes) return false;
    for (size_t i = version * PIECES_EACH; i < (version + 1) * PIECES_EACH; i++)
        if (sum_of(code + at + pieces[i].place) != pieces[i].sum) return false;
    return true;
}

/* Sets where a runtime's code begins, and returns its version, VERSIONS for none. */
static size_t find_version(const unsigned char *code, size_t bytes, size_t *begin)
{
    for (size_t at = 0; bytes >= PIECE_BYTES && at <= bytes - PIECE_BYTES; at += ALIGNED) {
        const uint64_t sum = sum_of(code + at);
        for (size_t version = 0; version < VERSIONS; version++) {
            const struct piece *first = &pieces[version * PIECES_EACH];
            if (sum != first->sum || at < first->place) continue;
            *begin = at - first->place;
            if (is_version(code, bytes, *begin, version)) return version;
        }
    }
    return VERSIONS;
}

static bool fill(struct symbols *symbols, size_t version, ElfW(Addr) begin)
{
    ElfW(Sym) *rows = calloc(FUNCTIONS, sizeof *rows);
    const char *const first = (const char *)&names, *name = first;
    if (rows == NULL) return false;
    *symbols = (struct symbols){.rows = rows, .names = first, .names_size = sizeof names};
    for (size_t i = 0; i < FUNCTIONS; i++, name += strlen(name) + 1) {
        if (places[i][version] == NONE) continue;
        rows[symbols->count++] = (ElfW(Sym)){.st_name = (uint32_t)(name - first),
                                             .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                                             .st_shndx = SHN_ABS,
                                             .st_value = begin + places[i][version],
                                             .st_size = ALIGNED};
    }
    return true;
}

unsigned stripped_find(const struct symbols_file *file, struct symbols *symbols)
{
    struct symbols used;
    size_t count = 0;
    /* The runtime uses it, and hardly anything else does: other objects are not searched. */
    if (!symbols_find(file, SHT_DYNSYM, &used) || !symbols_import(&used, "dlmopen")) return 0;
    const ElfW(Phdr) *segments = symbols_segments(file, &count);
    for (size_t i = 0; i < count; i++) {
        const ElfW(Phdr) *segment = &segments[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
            segment->p_vaddr % ALIGNED != 0 ||
            !symbols_are_inside(file, segment->p_offset, segment->p_filesz))
            continue;
        size_t begin = 0;
        const size_t version =
            find_version(file->bytes + segment->p_offset, segment->p_filesz, &begin);
        if (version == VERSIONS) continue;
        return fill(symbols, version, segment->p_vaddr + begin) ? versions[version].number : 0;
    }
    return 0;
}
