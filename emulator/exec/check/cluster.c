#include "emulator/exec/check/cluster.h"
#include "emulator/exec/check/objects.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/exec/check/causality.h"

enum { MOST = EXEC_CLUSTER_MOST };

/* A vector clock: per block of the cluster, its touches before that moment are known to be over. */
struct clock {
    int32_t before[MOST];
};

/* The latest touch of one block in another's shared memory. */
struct visit {
    const struct exec_warp *warp; /* NULL: none yet */
    const struct exec_inst *inst;
    int32_t cell;
    uint32_t bytes;
    uint64_t offset;
    enum exec_access access;
};

struct exec_cluster_order {
    struct clock known[MOST];
    struct clock fenced[MOST];  /* per block: its clock at its last fence; zeros: there was none */
    bool releases[MOST];        /* per block: an arrival in the present phase releases */
    struct clock objects[MOST]; /* per block: clocks of arrivals at its barrier objects */
    struct clock flags;         /* what strong accesses have passed on */
    struct visit visits[MOST][MOST]; /* by the first block, in the memory of the second */
};

/* ---- clocks ---------------------------------------------------------------------------------- */

/* Returns true when *into has learned something. */
static bool join(struct clock *into, const struct clock *from)
{
    bool any = false;
    for (uint32_t k = 0; k < MOST; k++) {
        if (from->before[k] <= into->before[k]) continue;
        into->before[k] = from->before[k];
        any = true;
    }
    return any;
}

static struct exec_cluster_order *order_of(const struct exec_block *block)
{
    return block->cluster != NULL ? block->cluster->order : NULL;
}

/* Returns the clock of what the block knows and has done until now. */
static struct clock present(const struct exec_cluster_order *order, const struct exec_block *block)
{
    struct clock clock = order->known[block->rank];
    exec_shadow_next_moment(block);
    if (block->shadow != NULL) clock.before[block->rank] = block->shadow->time << EXEC_SHADOW_TIME;
    return clock;
}

bool exec_cluster_order_begin(struct exec_cluster *cluster)
{
    struct exec_cluster_order *order = calloc(1, sizeof *order);
    if (order == NULL) return false;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        struct exec_shadow *shadow = cluster->blocks[rank]->shadow;
        if (shadow == NULL) continue;
        shadow->visited = false;
        for (uint32_t k = 0; k < cluster->count; k++) order->known[k].before[rank] = shadow->floor;
    }
    cluster->order = order;
    return true;
}

void exec_cluster_order_end(struct exec_cluster *cluster)
{
    free(cluster->order);
    cluster->order = NULL;
}

void exec_cluster_order_arrive(const struct exec_warp *warp, bool releases)
{
    struct exec_cluster_order *order = order_of(warp->block);
    if (order != NULL) order->releases[warp->block->rank] |= releases;
}

/* Returns what a block passes on at the barrier: everything, unless each of its arrivals was
 * .relaxed. */
static struct clock passed_by(const struct exec_cluster_order *order,
                              const struct exec_block *block)
{
    const struct clock all = present(order, block);
    return order->releases[block->rank] || block->ended ? all : order->fenced[block->rank];
}

void exec_cluster_order_meet(const struct exec_block *block)
{
    struct exec_cluster *cluster = block->cluster;
    struct exec_cluster_order *order = order_of(block);
    struct clock all = {.before = {0}};
    exec_shadow_order(block);
    exec_objects_met(block->objects);
    if (cluster == NULL) return;
    if (order != NULL) exec_causality_meet(cluster->blocks, cluster->count, order->releases);
    for (uint32_t rank = 0; rank < cluster->count && order != NULL; rank++) {
        const struct clock passed = passed_by(order, cluster->blocks[rank]);
        join(&all, &passed);
    }
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        exec_shadow_order(cluster->blocks[rank]);
        exec_objects_met(cluster->blocks[rank]->objects);
        if (order == NULL) continue;
        join(&order->known[rank], &all);
        order->releases[rank] = false;
    }
}

void exec_cluster_order_fence(const struct exec_block *block)
{
    struct exec_cluster_order *order = order_of(block);
    if (order != NULL) order->fenced[block->rank] = present(order, block);
}

/* The block acquires `from`. Its own threads may have learned of each other in the same way, so
 * they are ordered too. */
static void learn(struct exec_cluster_order *order, const struct exec_block *block,
                  const struct clock *from)
{
    if (join(&order->known[block->rank], from)) exec_shadow_order(block);
}

void exec_cluster_order_access(const struct exec_warp *warp, enum exec_access access, bool releases)
{
    const struct exec_block *block = warp->block;
    struct exec_cluster_order *order = order_of(block);
    if (order == NULL) return;
    if (releases) exec_cluster_order_fence(block);
    exec_causality_meet_cluster(warp, block->cluster->blocks[0], access, releases);
    if (access != EXEC_LOAD) join(&order->flags, &order->fenced[block->rank]);
    if (access != EXEC_STORE) {
        struct clock told = order->flags;
        told.before[block->rank] = 0; /* what it knows of itself is in its own shadow */
        learn(order, block, &told);
    }
}

void exec_cluster_order_tell(const struct exec_warp *warp, const struct exec_block *home)
{
    struct exec_cluster_order *order = order_of(warp->block);
    if (order == NULL) return;
    const struct clock now = present(order, warp->block);
    join(&order->objects[home->rank], &now);
    exec_causality_meet_cluster(warp, home, EXEC_STORE, true);
}

void exec_cluster_order_hear(const struct exec_warp *warp, const struct exec_block *home)
{
    struct exec_cluster_order *order = order_of(warp->block);
    if (order == NULL) return;
    struct clock told = order->objects[home->rank];
    told.before[warp->block->rank] = 0;
    learn(order, warp->block, &told);
    exec_causality_meet_cluster(warp, home, EXEC_LOAD, false);
}

/* ---- races ----------------------------------------------------------------------------------- */

static struct exec_racecheck_side side_of(const struct exec_block *block, uint32_t thread,
                                          uint32_t site, enum exec_access access)
{
    const struct exec_worker *worker = block->worker;
    const struct exec_position *position = &worker->function->program->positions[site];
    const uint32_t *size = worker->launch->block, *at = block->position;
    return (struct exec_racecheck_side){
        .access = access,
        .file = position->file,
        .line = position->line,
        .known = true,
        .block = {at[0], at[1], at[2]},
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]}};
}

void exec_cluster_order_report(const struct exec_touch *touch, const struct exec_reported *first,
                               const struct exec_block *block, uint64_t offset)
{
    const struct exec_block *own = touch->warp->block;
    const struct exec_launch *launch = own->worker->launch;
    struct exec_racecheck_found found = {
        .wrong = EXEC_WRONG_CLUSTER,
        .first = side_of(block, first->thread, first->site, first->access),
        .second = side_of(own, touch->thread, touch->inst->position, touch->access),
        .offset = offset,
        .home = touch->home->rank,
        .bytes = touch->bytes,
        .block_size = {launch->block[0], launch->block[1], launch->block[2]},
        .block_index = own->index,
        .count = 1};
    found.first.known = first->known;
    exec_racecheck_add(launch->watch, &found);
}

static const enum exec_access accesses[EXEC_KEPT_COUNT] = {EXEC_STORE, EXEC_LOAD, EXEC_LOAD,
                                                           EXEC_ATOMIC, EXEC_ATOMIC};

/* Returns as bits the kinds of touches in a cell that conflict with an access. */
static unsigned held_against(enum exec_access access)
{
    enum {
        WRITE = 1 << EXEC_KEPT_WRITE,
        READ = 1 << EXEC_KEPT_READ | 1 << EXEC_KEPT_READ_OTHER,
        ATOM = 1 << EXEC_KEPT_ATOM | 1 << EXEC_KEPT_ATOM_OTHER,
    };
    return access == EXEC_LOAD    ? WRITE | ATOM
           : access == EXEC_STORE ? WRITE | READ | ATOM
                                  : WRITE | READ;
}

/* Compares the touch with those of `other` in the same memory. Touches before `over` are
 * ordered. */
static void hold_against(const struct exec_touch *touch, const struct exec_block *other,
                         const struct exec_shadow *shadow, int32_t over, uint64_t offset,
                         uint64_t bytes)
{
    const unsigned kinds = held_against(touch->access);
    const size_t end = (size_t)((offset + bytes - 1) >> shadow->shift);
    for (size_t index = (size_t)(offset >> shadow->shift); index <= end; index++)
        for (int kept = 0; kept < EXEC_KEPT_COUNT; kept++) {
            const int32_t cell = shadow->cells[kept][index];
            if (!(kinds >> kept & 1) || cell == 0 || cell < over) continue;
            const struct exec_reported first = {(uint32_t)cell & EXEC_SHADOW_THREAD,
                                                shadow->sites[kept][index], accesses[kept], true};
            exec_cluster_order_report(touch, &first, other, (uint64_t)index << shadow->shift);
            return;
        }
}

void exec_cluster_order_touch(const struct exec_touch *touch, uint64_t offset, uint64_t bytes)
{
    struct exec_block *block = touch->warp->block, *home = touch->home;
    const struct exec_cluster *cluster = block->cluster;
    struct exec_cluster_order *order = cluster->order;
    if (home != block) {
        home->shadow->visited = true;
        order->visits[block->rank][home->rank] = (struct visit){
            touch->warp, touch->inst, touch->now, (uint32_t)bytes, offset, touch->access};
    }
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        const struct exec_block *other = cluster->blocks[rank];
        const struct exec_shadow *shadow = other == home ? other->shadow : other->away[home->rank];
        if (other == block || shadow == NULL || shadow->cells[0] == NULL) continue;
        hold_against(touch, other, shadow, order->known[block->rank].before[rank], offset, bytes);
    }
}

struct exec_shadow *exec_cluster_order_shadow(struct exec_block *block, struct exec_block *home)
{
    struct exec_shadow **away = &block->away[home->rank];
    const struct exec_shadow *own = block->shadow;
    if (*away != NULL) return *away;
    *away = exec_shadow_create(own->bytes);
    if (*away == NULL) return NULL;
    (*away)->time = own->time; /* all have the same moments */
    (*away)->floor = own->floor;
    memcpy((*away)->warp_floor, own->warp_floor, sizeof own->warp_floor);
    (*away)->converses = own->converses;
    block->visits = true;
    return *away;
}

void exec_cluster_order_leaves(const struct exec_block *block)
{
    const struct exec_cluster *cluster = block->cluster;
    const struct exec_cluster_order *order = cluster->order;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        const struct visit *visit = &order->visits[rank][block->rank];
        if (visit->warp == NULL || visit->cell < order->known[block->rank].before[rank]) continue;
        const struct exec_block *other = cluster->blocks[rank];
        const struct exec_launch *launch = other->worker->launch;
        const struct exec_racecheck_side side =
            side_of(other, (uint32_t)visit->cell & EXEC_SHADOW_THREAD, visit->inst->position,
                    visit->access);
        exec_racecheck_add(launch->watch,
                           &(struct exec_racecheck_found){
                               .wrong = EXEC_WRONG_ENDED,
                               .first = side,
                               .second = side,
                               .offset = visit->offset,
                               .home = block->rank,
                               .bytes = visit->bytes,
                               .block_size = {launch->block[0], launch->block[1], launch->block[2]},
                               .block_index = other->index,
                               .count = 1});
    }
}
