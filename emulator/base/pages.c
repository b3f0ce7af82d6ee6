#include "emulator/base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LEAST = 1 << 17,       /* bytes; less is taken from calloc, which avoids a system call */
    MOST_SIZE = 512 << 20, /* bytes; of larger pieces it takes long to find what was touched */
    MOST_KEPT = 64 << 20,  /* bytes touched; a piece of which more was touched is not kept */
    MOST_HELD = 128 << 20, /* bytes touched of all pieces that are kept */
    SPARES = 8,            /* pieces that are kept for reuse */
    LEAST_PAGE = 4096,     /* bytes of a page, at least */
    AT_ONCE = 16 << 10,    /* pages that the system is asked about at once */
};

/* What a zeroed piece that is kept for reuse begins with. */
struct spare {
    size_t bytes;
    size_t resident; /* of them, the bytes that take memory */
};
static struct spare *spares[SPARES]; /* atomic: a thread owns what it exchanges out */
static size_t held;                  /* resident bytes of all of them: atomic */

/* Unmaps a piece that was kept. */
static void drop(struct spare *kept)
{
    if (kept == NULL) return;
    __atomic_fetch_sub(&held, kept->resident, __ATOMIC_RELAXED);
    munmap(kept, kept->bytes);
}

static void *spare_find(size_t bytes)
{
    for (size_t k = 0; k < SPARES; k++) {
        if (__atomic_load_n(&spares[k], __ATOMIC_RELAXED) == NULL) continue;
        struct spare *found = __atomic_exchange_n(&spares[k], NULL, __ATOMIC_ACQ_REL);
        if (found == NULL) continue;
        if (found->bytes == bytes) {
            __atomic_fetch_sub(&held, found->resident, __ATOMIC_RELAXED);
            *found = (struct spare){0};
            return found;
        }
        drop(__atomic_exchange_n(&spares[k], found, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

void *pages_take(size_t bytes)
{
    if (bytes < LEAST) return calloc(1, bytes);
    void *pages = spare_find(bytes);
    if (pages != NULL) return pages;
    pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

static void keep(struct spare *given, size_t bytes, size_t resident)
{
    static unsigned next; /* the slot that was filled longest ago */
    *given = (struct spare){bytes, resident};
    __atomic_fetch_add(&held, resident, __ATOMIC_RELAXED);
    for (unsigned tries = 0; tries <= SPARES && given != NULL; tries++) {
        const bool full = __atomic_load_n(&held, __ATOMIC_RELAXED) > MOST_HELD;
        const unsigned k = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % SPARES;
        drop(__atomic_exchange_n(&spares[k], full ? NULL : given, __ATOMIC_ACQ_REL));
        if (!full) return;
    }
    drop(given);
}

/* Clears the touched ones of some pages, and drops the others: those were not touched, or are
 * swapped out. Adds to `*resident`. Returns false when the system does not say. */
static bool zero_part(unsigned char *pages, size_t bytes, size_t page, size_t *resident)
{
    const size_t count = (bytes + page - 1) / page;
    unsigned char is_resident[AT_ONCE];
    if (mincore(pages, bytes, is_resident) != 0) return false;
    for (size_t first = 0, end; first < count; first = end) {
        const bool touched = is_resident[first] & 1;
        for (end = first + 1; end < count && (is_resident[end] & 1) == touched;) end++;
        unsigned char *const at = pages + first * page;
        const size_t size = (end - first) * page;
        if (touched) {
            *resident += size;
            if (*resident > MOST_KEPT) return false;
            memset(at, 0, size);
        } else if (madvise(at, size, MADV_DONTNEED) != 0) {
            return false;
        }
    }
    return true;
}

/* Clears what was touched, which is faster than a page fault for each page when the piece is used
 * again. Returns false if the piece cannot be kept. */
static bool zero_again(unsigned char *pages, size_t bytes, size_t *resident)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), part = AT_ONCE * page;
    if (page < LEAST_PAGE) return false;
    for (size_t at = 0; at < bytes; at += part)
        if (!zero_part(pages + at, bytes - at < part ? bytes - at : part, page, resident))
            return false;
    return true;
}

void pages_give_few(void *pages, size_t bytes)
{
    if (bytes < LEAST)
        free(pages);
    else if (pages != NULL)
        munmap(pages, bytes);
}

void pages_give(void *pages, size_t bytes)
{
    size_t resident = 0;
    if (pages != NULL && bytes >= LEAST && bytes <= MOST_SIZE &&
        zero_again(pages, bytes, &resident))
        keep(pages, bytes, resident);
    else
        pages_give_few(pages, bytes);
}

void pages_give_zeroed(void *pages, size_t bytes)
{
    if (pages == NULL || bytes < LEAST || bytes > MOST_KEPT)
        pages_give(pages, bytes);
    else
        keep(pages, bytes, bytes);
}
