#include "emulator/exec/check/racecheck.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* different pairs of places that are kept per launch */

struct exec_racecheck {
    pthread_mutex_t lock;
    struct exec_racecheck_found found[MOST];
    size_t count;
};

struct exec_racecheck *exec_racecheck_create(void)
{
    struct exec_racecheck *watch = malloc(sizeof *watch); /* `found` is large: not cleared */
    if (watch == NULL) return NULL;
    pthread_mutex_init(&watch->lock, NULL);
    watch->count = 0;
    return watch;
}

void exec_racecheck_destroy(struct exec_racecheck *watch)
{
    if (watch == NULL) return;
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

size_t exec_racecheck_count(const struct exec_racecheck *watch)
{
    return watch->count;
}

const struct exec_racecheck_found *exec_racecheck_at(const struct exec_racecheck *watch,
                                                     size_t index)
{
    return &watch->found[index];
}

static bool same_place(const struct exec_racecheck_side *a, const struct exec_racecheck_side *b)
{
    return a->access == b->access && a->line == b->line && a->file == b->file;
}

static bool on_one_line(const struct exec_racecheck_found *found)
{
    return found->first.line == found->second.line && found->first.file == found->second.file;
}

/* A lost update consists of two loads and two stores on one line; the race may be found between any
 * two of them. */
static bool same_change(const struct exec_racecheck_found *a, const struct exec_racecheck_found *b)
{
    const enum exec_wrong other = a->wrong == EXEC_WRONG_LOST ? b->wrong : a->wrong;
    return (a->wrong == EXEC_WRONG_LOST) != (b->wrong == EXEC_WRONG_LOST) &&
           (other == EXEC_WRONG_SHARED || other == EXEC_WRONG_GLOBAL) && a->region == b->region &&
           on_one_line(a) && on_one_line(b) && a->first.line == b->first.line &&
           a->first.file == b->first.file;
}

/* The two sides of a race may be found in either order. */
static bool same(const struct exec_racecheck_found *a, const struct exec_racecheck_found *b)
{
    if (same_change(a, b)) return true;
    if (a->wrong != b->wrong || a->region != b->region) return false;
    return (same_place(&a->first, &b->first) && same_place(&a->second, &b->second)) ||
           (same_place(&a->first, &b->second) && same_place(&a->second, &b->first));
}

bool exec_racecheck_in_warp(const struct exec_racecheck_found *found)
{
    const struct exec_racecheck_side *sides[] = {&found->first, &found->second};
    const uint32_t *block = found->block_size;
    uint32_t linear[2];
    if (!found->first.known || !found->second.known) return true;
    for (int i = 0; i < 2; i++)
        linear[i] =
            sides[i]->thread[0] + block[0] * (sides[i]->thread[1] + block[1] * sides[i]->thread[2]);
    return linear[0] / 32 == linear[1] / 32;
}

static bool of_threads(const struct exec_racecheck_found *found)
{
    return found->wrong == EXEC_WRONG_SHARED || found->wrong == EXEC_WRONG_GLOBAL;
}

static bool of_lanes(const struct exec_racecheck_found *found)
{
    return of_threads(found) && exec_racecheck_in_warp(found);
}

/* Returns true if `found` is the better example of the two. A race across warps is better than one
 * within a warp at the same places: what orders warps orders the lanes of one as well, and
 * __syncwarp() would be bad advice. */
static bool is_better(const struct exec_racecheck_found *found,
                      const struct exec_racecheck_found *known)
{
    if (found->wrong != known->wrong) return found->wrong == EXEC_WRONG_LOST;
    if (of_lanes(found) != of_lanes(known)) return of_lanes(known);
    return found->block_index < known->block_index;
}

/* Merges `found` with a known finding of the same places, or adds it. */
static void join(struct exec_racecheck *watch, const struct exec_racecheck_found *found)
{
    size_t i = 0;
    while (i < watch->count && !same(&watch->found[i], found)) i++;
    if (i == MOST) return;
    struct exec_racecheck_found *known = &watch->found[i];
    if (i == watch->count) {
        *known = *found;
        watch->count++;
        return;
    }
    const uint64_t count = known->count + found->count;
    if (is_better(found, known)) *known = *found;
    known->count = count;
}

void exec_racecheck_add(struct exec_racecheck *watch, const struct exec_racecheck_found *found)
{
    pthread_mutex_lock(&watch->lock);
    join(watch, found);
    pthread_mutex_unlock(&watch->lock);
}

static void place_side(struct exec_racecheck_side *side, const struct exec_racecheck_found *found,
                       const struct exec_footprint *footprint)
{
    if (side->line != 0) return;
    for (size_t i = 0; i < exec_footprint_site_count(footprint); i++) {
        const struct exec_footprint_site *site = exec_footprint_site_at(footprint, i);
        if (site->region != found->region || site->access != side->access ||
            site->first > found->offset || site->end <= found->offset)
            continue;
        if (side->line != 0 && site->line >= side->line) continue;
        side->file = site->file;
        side->line = site->line;
    }
}

/* Another block's atomic of block scope is recorded as a store: grid_shadow.c. */
static void place_other(struct exec_racecheck_found *found, const struct exec_footprint *footprint)
{
    struct exec_racecheck_side *other = &found->first, mistaken = *other;
    place_side(other, found, footprint);
    if (other->line != 0 || other->access == EXEC_LOAD) return;
    mistaken.access = other->access == EXEC_STORE ? EXEC_ATOMIC : EXEC_STORE;
    place_side(&mistaken, found, footprint);
    if (mistaken.line == 0) return;
    if (mistaken.access == EXEC_ATOMIC) found->wrong = EXEC_WRONG_SCOPE;
    *other = mistaken;
}

/* A word that was written equals the fill value by chance once in 2^32. A word that was written in
 * part does so much more often, but neither in a large part of the blocks nor only in the last
 * block, which is seldom full. */
static bool is_by_chance(const struct exec_racecheck_found *found, uint64_t blocks, uint64_t words)
{
    enum { CHANCE_BITS = 24, PART = 32 };
    const bool is_last = found->block_index + 1 == blocks && found->count == 1;
    return found->count < 1 + (blocks * words >> CHANCE_BITS) ||
           (found->count < blocks / PART && !is_last);
}

void exec_racecheck_weigh(struct exec_racecheck *watch, uint64_t blocks, uint64_t words)
{
    bool races = false;
    size_t kept = 0;
    for (size_t i = 0; i < watch->count; i++) {
        const struct exec_racecheck_found *found = &watch->found[i];
        races |= found->region == NULL && found->wrong != EXEC_WRONG_UNWRITTEN &&
                 found->wrong != EXEC_WRONG_ABSENT;
    }
    for (size_t i = 0; i < watch->count; i++) {
        const struct exec_racecheck_found *found = &watch->found[i];
        if (found->wrong == EXEC_WRONG_UNWRITTEN && (races || is_by_chance(found, blocks, words)))
            continue;
        watch->found[kept++] = *found;
    }
    watch->count = kept;
}

bool exec_racecheck_one_reads(const struct exec_racecheck_found *found)
{
    return found->wrong == EXEC_WRONG_BLOCKS && found->first.access != found->second.access &&
           (found->first.access == EXEC_LOAD || found->second.access == EXEC_LOAD);
}

/* Returns the side that is named first. */
static const struct exec_racecheck_side *front_of(const struct exec_racecheck_found *found)
{
    const bool swapped = exec_racecheck_one_reads(found) && found->first.access == EXEC_LOAD;
    return swapped ? &found->first : &found->second;
}

/* Races within a warp come last: a missing __syncthreads() causes them, too. At the same two lines
 * a race between blocks comes before one of a block's threads, which a missing end of the launch
 * causes as well. */
static int by_place(const void *left, const void *right)
{
    const struct exec_racecheck_found *a = left, *b = right;
    const struct exec_racecheck_side *x = front_of(a), *y = front_of(b);
    if (of_lanes(a) != of_lanes(b)) return of_lanes(a) ? 1 : -1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    const uint32_t other_x = a->first.line + a->second.line - x->line;
    const uint32_t other_y = b->first.line + b->second.line - y->line;
    if (other_x != other_y) return other_x < other_y ? -1 : 1;
    if (of_threads(a) != of_threads(b)) return of_threads(a) ? 1 : -1;
    if (x->access != y->access) return x->access > y->access ? -1 : 1;
    return a->block_index < b->block_index ? -1 : a->block_index > b->block_index;
}

void exec_racecheck_place(struct exec_racecheck *watch, const struct exec_footprint *footprint)
{
    const size_t count = watch->count;
    for (size_t i = 0; i < count && footprint != NULL; i++) {
        struct exec_racecheck_found *found = &watch->found[i];
        if (found->wrong != EXEC_WRONG_BLOCKS && found->wrong != EXEC_WRONG_SCOPE) continue;
        place_other(found, footprint);
        place_side(&found->second, found, footprint);
    }
    /* Workers found them in any order, and a finding that has got its place may now equal another
     * one. */
    qsort(watch->found, count, sizeof *watch->found, by_place);
    watch->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct exec_racecheck_found found = watch->found[i];
        join(watch, &found);
    }
}
