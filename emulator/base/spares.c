#include "emulator/base/spares.h"

#include <stdlib.h>

/* With AddressSanitizer every piece is freed at once, so that each use after free is reported. */
#ifdef __SANITIZE_ADDRESS__
enum { KEEPS = 0 };
#else
enum { KEEPS = 1 };
#endif

enum { MOST_KEPT = 1 << 12 };

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
    if (!KEEPS || spares->count >= MOST_KEPT) {
        free(piece);
        return;
    }
    *(void **)piece = spares->first;
    spares->first = piece;
    spares->count++;
}
