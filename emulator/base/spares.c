#include "emulator/base/spares.h"

#include <stdlib.h>

/* A sanitizer is to see each use of what has ended. */
#ifdef __SANITIZE_ADDRESS__
enum { MOST_KEPT = 0 };
#else
enum { MOST_KEPT = 1 << 12 };
#endif

void *spares_take(struct spares *spares, size_t bytes)
{
    void *piece = spares->first;
    if (piece == NULL) return malloc(bytes);
    spares->first = *(void **)piece;
    spares->count--;
    return piece;
}

void spares_give(struct spares *spares, void *piece)
{
    if (spares->count >= MOST_KEPT) {
        free(piece);
        return;
    }
    *(void **)piece = spares->first;
    spares->first = piece;
    spares->count++;
}
