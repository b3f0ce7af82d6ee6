#include "emulator/exec/check/unread.h"

#include <stdlib.h>

#include "emulator/exec/check/shadow_line.h"

enum { ROOM = 64 }; /* of a block; more are reported as they are found */

struct exec_unread *exec_unread_at(struct exec_shadow *shadow, size_t index, bool make)
{
    const uint64_t offset = (uint64_t)index << shadow->shift;
    struct exec_unread *free = NULL;
    if (shadow->unread == NULL && make) {
        shadow->unread = calloc(ROOM, sizeof *shadow->unread);
        exec_shadow_line_drop(shadow); /* lines forget at an order what entries must not */
    }
    for (size_t k = 0; shadow->unread != NULL && k < ROOM; k++) {
        struct exec_unread *unread = &shadow->unread[k];
        if (unread->used && unread->offset == offset) return unread;
        if (!unread->used && free == NULL) free = unread;
    }
    if (!make || free == NULL) return NULL;
    free->offset = offset;
    return free;
}

void exec_unread_keep(struct exec_shadow *shadow, size_t index, struct exec_unread *unread,
                      int32_t now)
{
    unread->cell = now | EXEC_SHADOW_MANY;
    shadow->cells[EXEC_KEPT_WRITE][index] =
        EXEC_UNREAD_TIME << EXEC_SHADOW_TIME | EXEC_SHADOW_MANY | (now & EXEC_SHADOW_THREAD);
}

void exec_unread_settle(struct exec_shadow *shadow, size_t index, struct exec_unread *unread)
{
    shadow->cells[EXEC_KEPT_WRITE][index] = unread != NULL ? unread->cell & ~EXEC_SHADOW_MANY : 0;
    if (unread != NULL) unread->used = false;
}

void exec_unread_forget(struct exec_shadow *shadow)
{
    for (size_t k = 0; shadow->unread != NULL && k < ROOM; k++) {
        struct exec_unread *unread = &shadow->unread[k];
        const size_t index = (size_t)(unread->offset >> shadow->shift);
        if (!unread->used) continue;
        if (exec_unread_is(shadow->cells[EXEC_KEPT_WRITE][index]))
            shadow->cells[EXEC_KEPT_WRITE][index] = 0;
        unread->used = false;
    }
}
