#include "emulator/memory/initcheck.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUCKETS = 1024,
    PAGE = 4096,
    LOOKS = 4096, /* reads of the page table; bounds the cost where regions are many */
};

/* An entry of /proc/PID/pagemap (Linux, admin-guide/mm/pagemap). */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_OF_FILE (UINT64_C(1) << 61)

struct followed {
    struct followed *next; /* in its bucket */
    uint64_t id;
    uint64_t size;
    uint64_t *bits; /* one bit per byte; NULL: nothing is written */
    uint64_t left;  /* bytes that are not written, if `bits` is not NULL */
    bool all;       /* everything is written */
    bool given;
    bool managed;
    bool hosts; /* managed, and no device has touched it */
};

static struct {
    struct followed *buckets[BUCKETS];
    size_t managed, hosts; /* how many followed regions are so */
    unsigned looks;
} written;

static struct followed **place(const struct memory_region *region)
{
    struct followed **at = &written.buckets[region->id % BUCKETS];
    while (*at != NULL && (*at)->id != region->id) at = &(*at)->next;
    return at;
}

void memory_initcheck_follow(const struct memory_region *region)
{
    struct followed *followed = calloc(1, sizeof *followed);
    if (followed == NULL) return;
    memory_initcheck_forget(region);
    struct followed **at = place(region);
    followed->id = region->id;
    followed->size = region->size;
    *at = followed;
}

void memory_initcheck_follow_host(const struct memory_region *region)
{
    memory_initcheck_follow(region);
    struct followed *followed = *place(region);
    if (followed == NULL) return;
    followed->all = followed->hosts = followed->managed = true;
    written.hosts++;
    written.managed++;
}

bool memory_initcheck_is_hosts(const struct memory_region *region)
{
    const struct followed *followed = written.hosts > 0 ? *place(region) : NULL;
    return followed != NULL && followed->hosts;
}

void memory_initcheck_forget(const struct memory_region *region)
{
    struct followed **at = place(region);
    struct followed *followed = *at;
    if (followed == NULL) return;
    *at = followed->next;
    written.hosts -= followed->hosts;
    written.managed -= followed->managed;
    free(followed->bits);
    free(followed);
}

bool memory_initcheck_follows(const struct memory_region *region)
{
    return *place(region) != NULL;
}

static uint64_t word_count(const struct followed *followed)
{
    return (followed->size + 63) / 64;
}

/* Counts everything as written, either because it is or because the bits cannot be kept. */
static void give_up(struct followed *followed)
{
    free(followed->bits);
    followed->bits = NULL;
    followed->all = true;
}

/* Allocates the bits if need be. Returns false when there are no bits to set. */
static bool prepare(struct followed *followed)
{
    if (followed == NULL || followed->all) return false;
    if (followed->bits != NULL) return true;
    followed->bits = calloc(word_count(followed), sizeof *followed->bits);
    followed->left = followed->size;
    if (followed->bits == NULL) give_up(followed);
    return followed->bits != NULL;
}

static void set_word(struct followed *followed, uint64_t word, uint64_t bits)
{
    const uint64_t fresh = bits & ~followed->bits[word];
    if (fresh == 0) return;
    followed->bits[word] |= fresh;
    followed->left -= (unsigned)__builtin_popcountll(fresh);
}

void memory_initcheck_set(const struct memory_region *region, uint64_t offset, uint64_t bytes)
{
    struct followed *followed = *place(region);
    if (followed == NULL || followed->all || bytes == 0) return;
    if (offset == 0 && bytes >= followed->size) {
        give_up(followed);
        return;
    }
    if (!prepare(followed)) return;
    const uint64_t end = offset + bytes;
    while (offset < end) {
        const uint64_t at = offset % 64;
        const uint64_t here = end - offset < 64 - at ? end - offset : 64 - at;
        set_word(followed, offset / 64, (here == 64 ? ~0ull : (1ull << here) - 1) << at);
        offset += here;
    }
    if (followed->left == 0) give_up(followed);
}

void memory_initcheck_set_bits(const struct memory_region *region, const uint64_t *bits,
                               uint64_t first, uint64_t end)
{
    struct followed *followed = *place(region);
    if (!prepare(followed)) return;
    assert(first % 64 == 0 && end <= word_count(followed) * 64);
    for (uint64_t i = first / 64; i < end / 64; i++) set_word(followed, i, bits[i]);
    if (followed->left == 0) give_up(followed);
}

void memory_initcheck_give(const struct memory_region *region)
{
    struct followed *followed = *place(region);
    if (followed != NULL) followed->given = true;
}

bool memory_initcheck_some(const struct memory_region *region)
{
    const struct followed *followed = *place(region);
    return followed == NULL || followed->all || followed->bits != NULL;
}

bool memory_initcheck_never(const struct memory_region *region)
{
    const struct followed *followed = *place(region);
    return followed != NULL && !followed->given && !memory_initcheck_some(region);
}

/* Returns those bits of the word that belong to aligned groups of `unit` bits all of which are
 * set. */
static uint64_t whole_units(uint64_t bits, unsigned unit)
{
    uint64_t firsts = bits; /* a bit stays set when it and the next unit - 1 are set */
    for (unsigned step = 1; step < unit; step *= 2) firsts &= firsts >> step;
    static const uint64_t starts[] = {~0ull,
                                      0x5555555555555555ull,
                                      0x1111111111111111ull,
                                      0x0101010101010101ull,
                                      0x0001000100010001ull,
                                      0x0000000100000001ull,
                                      1ull};
    firsts &= starts[__builtin_ctz(unit)];
    for (unsigned step = 1; step < unit; step *= 2) firsts |= firsts << step;
    return firsts;
}

void memory_initcheck_find(const struct memory_region *region, const uint64_t *touched,
                           unsigned unit, uint64_t first, uint64_t end,
                           struct memory_unwritten *found)
{
    const struct followed *followed = *place(region);
    if (followed == NULL || followed->all) return;
    assert(first % 64 == 0 && end <= word_count(followed) * 64);
    for (uint64_t i = first / 64; i < end / 64; i++) {
        const uint64_t known = followed->bits != NULL ? followed->bits[i] : 0;
        uint64_t bits = touched[i] & ~known;
        if (bits == 0 || (bits = whole_units(bits, unit)) == 0) continue;
        if (found->bytes == 0) found->first = i * 64 + (unsigned)__builtin_ctzll(bits);
        found->bytes += (unsigned)__builtin_popcountll(bits);
        found->end = i * 64 + 64 - (unsigned)__builtin_clzll(bits);
    }
}

/* ---- what the host has done ------------------------------------------------------------------ */

/* Calls `see` for each page of the region, until it returns false. Returns false where the page
 * table cannot be read, or has been read often enough. */
static bool look_at_pages(const struct memory_region *region,
                          bool (*see)(void *user, uint64_t page, bool read, bool was_written),
                          void *user)
{
    uint64_t entries[512];
    const uint64_t first = (uint64_t)(uintptr_t)region->bytes / PAGE;
    const uint64_t pages = (region->size + PAGE - 1) / PAGE;
    bool known = true, goes_on = true;
    if (sysconf(_SC_PAGESIZE) != PAGE || written.looks == LOOKS) return false;
    written.looks++;
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    for (uint64_t at = 0; at < pages && known && goes_on;) {
        const uint64_t most = sizeof entries / sizeof *entries;
        const uint64_t count = pages - at < most ? pages - at : most;
        const ssize_t bytes = (ssize_t)(count * sizeof *entries);
        known = pread(file, entries, (size_t)bytes, (off_t)((first + at) * 8)) == bytes;
        for (uint64_t i = 0; i < count && known && goes_on; i++) {
            const bool present = entries[i] & PAGE_PRESENT, of_file = entries[i] & PAGE_OF_FILE;
            goes_on = see(user, at + i, present && of_file,
                          (present && !of_file) || (entries[i] & PAGE_SWAPPED));
        }
        at += count;
    }
    close(file);
    return known;
}

struct seen {
    bool any_read, any_written;
};

static bool see_use(void *user, uint64_t page, bool read, bool was_written)
{
    struct seen *seen = user;
    (void)page;
    seen->any_read |= read;
    seen->any_written |= was_written;
    return !was_written;
}

bool memory_initcheck_only_read(const struct memory_region *region)
{
    struct seen seen = {false, false};
    return look_at_pages(region, see_use, &seen) && seen.any_read && !seen.any_written;
}

static bool see_written(void *user, uint64_t page, bool read, bool was_written)
{
    const struct memory_region *region = *(const struct memory_region *const *)user;
    const uint64_t first = page * PAGE, left = region->size - first;
    (void)read;
    if (was_written) memory_initcheck_set(region, first, left < PAGE ? left : PAGE);
    return true;
}

void memory_initcheck_shared(const struct memory_region *region)
{
    struct followed *followed = written.managed > 0 ? *place(region) : NULL;
    if (followed == NULL || !followed->managed) return;
    if (followed->hosts) {
        written.hosts--;
        followed->hosts = followed->all = false;
    }
    if (followed->all) return;
    if (!look_at_pages(region, see_written, &region)) memory_initcheck_forget(region);
}
