#include "emulator/exec/check/products.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT = 1024, /* products; a power of two */
    TEAMS = EXEC_MAX_WARPS / EXEC_GROUP_WARPS,
    NONE = 0,
};

/* A warp's part of a product. Parts are numbered from 1 on. */
struct part {
    uint32_t number, warp, group, site;
};

/* A team: four warps that multiply together. */
struct exec_products {
    uint32_t *words; /* of shared memory: the latest part that reads each, or NONE */
    size_t word_count;
    struct part parts[KEPT];           /* number n at n % KEPT */
    uint32_t made, before;             /* parts so far; before this block */
    uint32_t group[EXEC_MAX_WARPS];    /* per warp: the open group */
    uint32_t current[EXEC_MAX_WARPS];  /* per warp: its latest part */
    uint32_t last[TEAMS], over[TEAMS]; /* per team: the latest group, and the first one not over */
    uint32_t busy;                     /* bitmap: teams with last >= over */
};

static struct exec_products *create(const struct exec_shadow *shadow)
{
    struct exec_products *products = calloc(1, sizeof *products);
    if (products == NULL) return NULL;
    products->word_count = shadow->bytes / 4;
    products->words = calloc(products->word_count + 1, sizeof *products->words);
    if (products->words != NULL) return products;
    free(products);
    return NULL;
}

void exec_products_destroy(struct exec_products *products)
{
    if (products == NULL) return;
    free(products->words);
    free(products);
}

void exec_products_reset(struct exec_products *products)
{
    if (products == NULL) return;
    products->before = products->made;
    memset(products->group, 0, sizeof products->group);
    memset(products->last, 0, sizeof products->last);
    memset(products->over, 0, sizeof products->over);
    products->busy = 0;
}

void exec_products_begin(const struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_block *block = warp->block;
    if (block->shadow == NULL) return;
    if (block->products == NULL) block->products = create(block->shadow);
    struct exec_products *products = block->products;
    if (products == NULL) return;
    const uint32_t number = ++products->made, team = warp->index / EXEC_GROUP_WARPS;
    const uint32_t group = products->group[warp->index];
    products->parts[number % KEPT] = (struct part){number, warp->index, group, inst->position};
    products->current[warp->index] = number;
    products->last[team] = group;
    products->busy |= 1u << team;
}

void exec_products_reads(const struct exec_warp *warp, uint64_t offset)
{
    struct exec_products *products = warp->block->products;
    if (products != NULL && offset / 4 < products->word_count)
        products->words[offset / 4] = products->current[warp->index];
}

bool exec_products_any(const struct exec_block *block)
{
    return block->products != NULL && block->products->busy != 0;
}

/* Returns the part, if it may still be reading; else NULL. */
static const struct part *under_way(const struct exec_products *products, uint32_t number)
{
    const struct part *part = &products->parts[number % KEPT];
    const bool known = number > products->before && part->number == number;
    return known && part->group >= products->over[part->warp / EXEC_GROUP_WARPS] ? part : NULL;
}

void exec_products_touch(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                         uint64_t offset, uint64_t bytes, enum exec_access access)
{
    const struct exec_products *products = warp->block->products;
    if (!exec_products_any(warp->block) || access == EXEC_LOAD) return;
    for (uint64_t at = offset & ~UINT64_C(3); at < offset + bytes; at += 4) {
        const uint32_t number = at / 4 < products->word_count ? products->words[at / 4] : NONE;
        const struct part *part = number != NONE ? under_way(products, number) : NULL;
        if (part == NULL) continue;
        const struct exec_reported first = {part->warp * EXEC_LANES, part->site, EXEC_LOAD, true};
        const struct exec_reported second = {warp->index * EXEC_LANES + lane, inst->position,
                                             access, true};
        exec_report(warp, EXEC_WRONG_SOURCE, &first, &second, NULL, at, (uint32_t)bytes);
        return;
    }
}

int exec_products_commit(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_products *products = warp->block->products;
    warp->instructions--;
    if (products != NULL && exec_racecheck_lanes(warp, inst)) products->group[warp->index]++;
    return EXEC_GO;
}

int exec_products_wait(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_products *products = warp->block->products;
    warp->instructions--;
    if (products == NULL || !exec_racecheck_lanes(warp, inst)) return EXEC_GO;
    const uint32_t team = warp->index / EXEC_GROUP_WARPS, group = products->group[warp->index];
    const uint32_t over = inst->imm < group ? group - (uint32_t)inst->imm : 0;
    if (over > products->over[team]) products->over[team] = over;
    if (products->over[team] > products->last[team]) products->busy &= ~(1u << team);
    return EXEC_GO;
}
