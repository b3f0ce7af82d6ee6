#include "emulator/base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LEAST = 1 << 17,       /* bytes; less is taken from calloc, which avoids a system call */
    MOST_KEPT = 64 << 20,  /* bytes; larger pieces are not kept for reuse */
    MOST_HELD = 128 << 20, /* bytes of all pieces that are kept */
    SPARES = 8,            /* pieces that are kept for reuse */
    LEAST_PAGE = 4096,     /* bytes of a page, at least */
};

/* Zeroed pieces that are free. While a piece is kept here, its first word is its size in bytes. */
static size_t *spares[SPARES]; /* atomic: a thread owns what it exchanges out */
static size_t held;            /* bytes of all of them: atomic */

/* Unmaps a piece that was kept. */
static void drop(size_t *kept)
{
    if (kept == NULL) return;
    __atomic_fetch_sub(&held, *kept, __ATOMIC_RELAXED);
    munmap(kept, *kept);
}

static void *spare_find(size_t bytes)
{
    for (size_t k = 0; k < SPARES; k++) {
        if (__atomic_load_n(&spares[k], __ATOMIC_RELAXED) == NULL) continue;
        size_t *found = __atomic_exchange_n(&spares[k], NULL, __ATOMIC_ACQ_REL);
        if (found == NULL) continue;
        if (*found == bytes) {
            __atomic_fetch_sub(&held, bytes, __ATOMIC_RELAXED);
            *found = 0;
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

static void keep(size_t *given, size_t bytes)
{
    static unsigned next; /* the slot that was filled longest ago */
    *given = bytes;
    __atomic_fetch_add(&held, bytes, __ATOMIC_RELAXED);
    for (unsigned tries = 0; tries <= SPARES && given != NULL; tries++) {
        const bool full = __atomic_load_n(&held, __ATOMIC_RELAXED) > MOST_HELD;
        const unsigned k = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % SPARES;
        drop(__atomic_exchange_n(&spares[k], full ? NULL : given, __ATOMIC_ACQ_REL));
        if (!full) return;
    }
    drop(given);
}

/* Clears what was touched, which is faster than a page fault for each page when the piece is used
 * again. Pages that are not resident were not touched, or are swapped out: those are dropped.
 * Returns false when the system does not say. */
static bool zero_again(unsigned char *pages, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = (bytes + page - 1) / page;
    unsigned char resident[MOST_KEPT / LEAST_PAGE];
    if (page < LEAST_PAGE || mincore(pages, bytes, resident) != 0) return false;
    for (size_t first = 0, end; first < count; first = end) {
        const bool touched = resident[first] & 1;
        for (end = first + 1; end < count && (resident[end] & 1) == touched;) end++;
        unsigned char *const at = pages + first * page;
        const size_t size = (end - first) * page;
        if (touched)
            memset(at, 0, size);
        else if (madvise(at, size, MADV_DONTNEED) != 0)
            return false;
    }
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
    if (pages != NULL && bytes >= LEAST && bytes <= MOST_KEPT && zero_again(pages, bytes))
        keep(pages, bytes);
    else
        pages_give_few(pages, bytes);
}

void pages_give_zeroed(void *pages, size_t bytes)
{
    if (pages == NULL || bytes < LEAST || bytes > MOST_KEPT)
        pages_give(pages, bytes);
    else
        keep(pages, bytes);
}
