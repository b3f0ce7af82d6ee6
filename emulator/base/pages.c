#include "emulator/base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    LEAST = 1 << 17,      /* bytes; less is taken from calloc, which avoids a system call */
    MOST_KEPT = 16 << 20, /* bytes; larger pieces are not kept for reuse */
    SPARES = 8,           /* pieces that are kept for reuse */
};

/* Zeroed pieces that are free. While a piece is kept here, its first word is its size in bytes. */
static size_t *spares[SPARES]; /* atomic: a thread owns what it exchanges out */

static void *spare_find(size_t bytes)
{
    for (size_t k = 0; k < SPARES; k++) {
        if (__atomic_load_n(&spares[k], __ATOMIC_RELAXED) == NULL) continue;
        size_t *found = __atomic_exchange_n(&spares[k], NULL, __ATOMIC_ACQ_REL);
        if (found == NULL) continue;
        if (*found == bytes) {
            *found = 0;
            return found;
        }
        found = __atomic_exchange_n(&spares[k], found, __ATOMIC_ACQ_REL);
        if (found != NULL) munmap(found, *found);
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

void pages_give(void *pages, size_t bytes)
{
    if (bytes < LEAST)
        free(pages);
    else if (pages != NULL)
        munmap(pages, bytes);
}

void pages_give_zeroed(void *pages, size_t bytes)
{
    static unsigned next; /* the slot that was filled longest ago */
    if (pages == NULL || bytes < LEAST || bytes > MOST_KEPT) {
        pages_give(pages, bytes);
        return;
    }
    size_t *given = pages;
    *given = bytes;
    const unsigned k = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % SPARES;
    given = __atomic_exchange_n(&spares[k], given, __ATOMIC_ACQ_REL);
    if (given != NULL) munmap(given, *given);
}
