/* Kernels that do not end: who waits where, and who goes round in circles, in a sentence. */
#include "emulator/base/name.h"
#include "emulator/exec/machine/private.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PLACES = 3, NAME = 48 };

/* Threads of a block at one instruction, waiting for the same thing. */
struct place {
    const struct exec_inst *inst;
    enum exec_wait wait;
    uint32_t threads;
    struct exec_warp *warp; /* of the first of them, and its lane and frame */
    struct exec_frame *frame;
    unsigned lane;
};

struct census {
    struct place places[MOST_PLACES]; /* barriers before .sync instructions */
    size_t count;
    uint32_t all, exited;
};

static void count_place(struct census *census, struct exec_warp *warp,
                        const struct exec_fragment *fragment)
{
    const uint32_t threads = (uint32_t)__builtin_popcount(fragment->mask);
    size_t k = 0;
    while (k < census->count && census->places[k].inst != fragment->pc) k++;
    if (k == MOST_PLACES) return;
    if (k == census->count)
        census->places[census->count++] =
            (struct place){.inst = fragment->pc,
                           .wait = fragment->wait,
                           .warp = warp,
                           .frame = fragment->frame,
                           .lane = (unsigned)__builtin_ctz(fragment->mask)};
    census->places[k].threads += threads;
}

static void count_threads(struct census *census, struct exec_block *block)
{
    static const enum exec_wait waits[] = {EXEC_WAIT_BARRIER, EXEC_WAIT_SYNC};
    *census = (struct census){.count = 0};
    for (uint32_t k = 0; k < block->warp_count; k++) {
        const struct exec_warp *warp = &block->warps[k];
        census->all += (uint32_t)__builtin_popcount(warp->existing);
        census->exited += (uint32_t)__builtin_popcount(warp->existing & ~warp->live);
    }
    for (size_t w = 0; w < sizeof waits / sizeof *waits; w++)
        for (uint32_t k = 0; k < block->warp_count; k++)
            for (uint32_t f = 0; f < block->warps[k].fragment_count; f++)
                if (block->warps[k].fragments[f].wait == waits[w])
                    count_place(census, &block->warps[k], &block->warps[k].fragments[f]);
}

static uint32_t line_of(const struct exec_block *block, const struct exec_inst *inst)
{
    return block->worker->function->program->positions[inst->position].line;
}

/* "64 of 128 threads wait at the barrier on line 21, 32 at the warp barrier on line 25; 32 have
 * exited" */
static void say_who_waits(const struct census *census, const struct exec_block *block, char *text,
                          size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (size_t k = 0; k < census->count && used < size; k++) {
        const struct place *place = &census->places[k];
        if (k == 0)
            used +=
                (size_t)snprintf(text, size, "%u of %u threads wait", place->threads, census->all);
        else
            used += (size_t)snprintf(text + used, size - used, ", %u", place->threads);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, " at the %s on line %u",
                                     place->wait == EXEC_WAIT_BARRIER ? "barrier" : "warp barrier",
                                     line_of(block, place->inst));
    }
    if (census->count && census->exited && used < size)
        snprintf(text + used, size - used, "; %u have exited", census->exited);
}

void exec_block_deadlock(struct exec_block *block)
{
    char kernel[NAME], who[160];
    struct census census;
    count_threads(&census, block);
    if (census.count == 0) return;
    const struct place *first = &census.places[0];
    name_plain(block->worker->function->info.name, kernel, sizeof kernel);
    say_who_waits(&census, block, who, sizeof who);
    first->warp->frame = first->frame;
    const bool barrier = first->wait == EXEC_WAIT_BARRIER;
    const uint32_t *size = block->worker->launch->block;
    const uint32_t thread = first->warp->index * EXEC_LANES + first->lane;
    exec_stop(first->warp, first->inst, barrier ? EXEC_BARRIER : EXEC_ABSENT, first->lane,
              "deadlock in the kernel %s, block (%u, %u, %u): %s. The first that waits is thread "
              "(%u, %u, %u). %s",
              kernel, block->position[0], block->position[1], block->position[2], who,
              thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1],
              barrier ? "All must reach the same barrier: none in a branch that only some take"
                      : "The mask must name exactly the lanes that reach it");
}

/* A fragment that could run, of a warp that polls if any does. */
static const struct exec_fragment *find_runnable(struct exec_block *block, struct exec_warp **warp)
{
    const struct exec_fragment *found = NULL;
    for (uint32_t k = 0; k < block->warp_count; k++)
        for (uint32_t f = 0; f < block->warps[k].fragment_count; f++) {
            const struct exec_fragment *fragment = &block->warps[k].fragments[f];
            if (fragment->wait != EXEC_RUNNABLE) continue;
            if (found && !(block->warps[k].yield && !(*warp)->yield)) continue;
            found = fragment;
            *warp = &block->warps[k];
        }
    return found;
}

bool exec_block_endless(struct exec_block *block, uint64_t limit)
{
    char kernel[NAME], who[160], reads[80] = "";
    struct census census;
    struct exec_warp *warp;
    const struct exec_fragment *fragment = find_runnable(block, &warp);
    if (fragment == NULL) return false;
    count_threads(&census, block);
    name_plain(block->worker->function->info.name, kernel, sizeof kernel);
    say_who_waits(&census, block, who, sizeof who);
    const struct exec_inst *at = fragment->pc;
    if (block->polling && warp->poll_latest != NULL) {
        at = warp->poll_latest;
        snprintf(reads, sizeof reads, ", reading a value that does not change");
    }
    warp->frame = fragment->frame;
    exec_stop(warp, at, EXEC_ENDLESS, (unsigned)__builtin_ctz(fragment->mask),
              "the kernel %s has executed %llu warp instructions, the limit, and does not end: it "
              "is in a loop around line %u%s%s%s",
              kernel, (unsigned long long)limit, line_of(block, at), reads,
              *who ? "; in its block " : "", who);
    return true;
}
