#include "emulator/exec/check/shadow_line.h"

#include <stdlib.h>

static size_t line_count(const struct exec_shadow *shadow)
{
    return shadow->bytes / (EXEC_LINE_WORDS * 4) + (size_t)1;
}

void exec_shadow_line(struct exec_shadow *shadow)
{
    shadow->lines = calloc(line_count(shadow), sizeof *shadow->lines);
}

void exec_shadow_line_drop(struct exec_shadow *shadow)
{
    exec_shadow_part(shadow);
    free(shadow->lines);
    shadow->lines = NULL;
}

void exec_shadow_line_forget(struct exec_shadow *shadow)
{
    for (size_t k = 0; shadow->lines != NULL && k < line_count(shadow); k++)
        shadow->lines[k].floor = 0;
    shadow->lined = shadow->parted = 0;
}

/* Does to the cells what the touch would have done. Nothing conflicts. */
static void spread(struct exec_shadow *shadow, size_t first, const struct exec_line_touch *touch)
{
    const bool one = touch->who & EXEC_LINE_ONE;
    const int32_t many = touch->who & EXEC_LINE_MANY ? EXEC_SHADOW_MANY : 0;
    const uint32_t site = (uint32_t)touch->when;
    for (uint32_t rest = touch->words; rest; rest &= rest - 1) {
        const int32_t k = __builtin_ctz(rest);
        const int32_t thread =
            exec_line_thread(touch->who) + (one ? 0 : k >> exec_line_shift(touch->who));
        const int32_t now = exec_line_moment(touch->when) | thread | many;
        const size_t index = first + (size_t)k;
        if (touch->who & EXEC_LINE_STORE) {
            shadow->cells[EXEC_KEPT_WRITE][index] = now;
            shadow->sites[EXEC_KEPT_WRITE][index] = site;
        } else {
            exec_shadow_keep_load(shadow, index, now, site);
        }
    }
}

void exec_shadow_part_slowly(struct exec_shadow *shadow)
{
    const size_t count = line_count(shadow);
    for (size_t k = 0; k < count && exec_lines_are_used(shadow); k++) {
        const struct exec_line *line = &shadow->lines[k];
        for (uint32_t l = 0; l < line->count && line->floor == shadow->floor; l++)
            spread(shadow, k * EXEC_LINE_WORDS, &line->touches[l]);
    }
    shadow->parted = shadow->floor;
    shadow->lined = 0;
}
