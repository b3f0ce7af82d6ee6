#include "emulator/base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LEAST = 1 << 17 }; /* bytes that are worth a call of the system */

void *pages_take(size_t bytes)
{
    if (bytes < LEAST) return calloc(1, bytes);
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

void pages_give(void *pages, size_t bytes)
{
    if (bytes < LEAST)
        free(pages);
    else if (pages != NULL)
        munmap(pages, bytes);
}
