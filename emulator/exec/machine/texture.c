/* The table of texture and surface objects. */
#include "emulator/exec/machine/texture.h"
#include "emulator/base/array.h"
#include "emulator/memory/memory.h"

#include <stddef.h>

struct entry {
    const struct exec_texture *texture; /* NULL: removed */
    uint64_t from;                      /* the first grid for which it has ended */
};

/* Handles count up, so that the handle of a removed object is never reused. */
static struct textures {
    struct entry *entries; /* indexed by handle - 1 */
    size_t count, room;
} textures;

uint64_t exec_texture_add(const struct exec_texture *texture)
{
    if (!array_grow(&textures.entries, textures.count, &textures.room, sizeof *textures.entries))
        return 0;
    textures.entries[textures.count++] = (struct entry){texture, EXEC_NO_GRID};
    return textures.count;
}

void exec_texture_remove(uint64_t handle)
{
    if (handle - 1 < textures.count) textures.entries[handle - 1].texture = NULL;
}

void exec_texture_end(uint64_t handle, uint64_t from)
{
    if (handle - 1 < textures.count) textures.entries[handle - 1].from = from;
}

const struct exec_texture *exec_texture_find(uint64_t handle, uint64_t grid)
{
    if (handle - 1 >= textures.count) return NULL;
    const struct entry *entry = &textures.entries[handle - 1];
    return grid < entry->from || entry->from == EXEC_NO_GRID ? entry->texture : NULL;
}

const struct memory_region *exec_texture_region(uint64_t handle, bool *several)
{
    const struct exec_texture *texture = exec_texture_find(handle, 0);
    *several = texture != NULL && texture->level_count > 0;
    return texture != NULL ? memory_find(texture->address) : NULL;
}

uint32_t exec_texel_bytes(const struct exec_texture *texture)
{
    static const uint8_t bytes[] = {
        [EXEC_TEXEL_U8] = 1,  [EXEC_TEXEL_U16] = 2, [EXEC_TEXEL_U32] = 4, [EXEC_TEXEL_S8] = 1,
        [EXEC_TEXEL_S16] = 2, [EXEC_TEXEL_S32] = 4, [EXEC_TEXEL_F16] = 2, [EXEC_TEXEL_F32] = 4,
    };
    return bytes[texture->texel] * (uint32_t)texture->channels;
}
