#include "emulator/exec/machine/probe.h"

#include "emulator/base/hash.h"
#include "emulator/exec/block.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_BITS = 7,
    SECTOR_BITS = 5,
    SECTORS = 1 << (LINE_BITS - SECTOR_BITS),
    TABLE_BITS = 14,
    BANKS = 32
};

/* A line of the cache. Times are counts of lines that a warp has touched. */
struct line {
    uint64_t number;
    uint32_t launch; /* as exec_probe.launch; lines of other launches are invalid */
    uint32_t first, last;
    uint32_t sectors; /* bitmap of the sectors that are cached */
};

struct exec_probe {
    struct exec_probed sums;
    uint32_t launch;                  /* number of the sampled launch, from 1 on */
    uint32_t reach;                   /* lines that fit into a warp's share of the cache */
    uint32_t touched[EXEC_MAX_WARPS]; /* lines touched, per warp */
    uint64_t found;                   /* sectors that the present instruction found in the cache */
    bool all_before;                  /* it found all, and all were cached by earlier accesses */
    uint64_t transactions, chain;     /* counts before the present instruction */
    struct line lines[1 << TABLE_BITS];
};

static struct exec_probe *kept; /* atomic: reused by the next launch */

bool exec_is_probed(const struct exec_launch *launch)
{
    const struct exec_probed *probed = launch->function->probed;
    return probed != NULL && probed->known &&
           memcmp(probed->grid, launch->grid, sizeof probed->grid) == 0 &&
           memcmp(probed->block, launch->block, sizeof probed->block) == 0 &&
           probed->dynamic_shared == launch->dynamic_shared;
}

struct exec_probe *exec_probe_create(const struct exec_launch *launch)
{
    if (launch->reach == 0 || launch->function->probed == NULL || exec_is_probed(launch))
        return NULL;
    struct exec_probe *probe = __atomic_exchange_n(&kept, NULL, __ATOMIC_ACQ_REL);
    if (probe == NULL) probe = calloc(1, sizeof *probe);
    if (probe == NULL) return NULL;
    probe->sums = (struct exec_probed){0};
    memset(probe->touched, 0, sizeof probe->touched);
    probe->launch++;
    probe->reach = launch->reach;
    return probe;
}

void exec_probe_destroy(struct exec_probe *probe)
{
    if (probe != NULL) free(__atomic_exchange_n(&kept, probe, __ATOMIC_ACQ_REL));
}

/* ---- one access ------------------------------------------------------------------------------ */

static uint32_t lanes_of(const struct exec_warp *warp, const struct exec_inst *inst)
{
    if (inst->guard == EXEC_NO_GUARD) return warp->mask;
    const uint32_t predicate = *(const uint32_t *)exec_slot(warp, inst->guard >> 1);
    return warp->mask & (inst->guard & 1 ? ~predicate : predicate);
}

/* Returns the entry of a line, emptied if it held another line or the line has been evicted
 * since. */
static struct line *line_at(struct exec_probe *probe, uint64_t number, uint32_t time)
{
    struct line *line = &probe->lines[hash_spread(number) >> (64 - TABLE_BITS)];
    const uint32_t apart = time > line->last ? time - line->last : line->last - time;
    if (line->launch != probe->launch || line->number != number || apart > probe->reach)
        *line = (struct line){number, probe->launch, time, time, 0};
    if (time > line->last) line->last = time;
    return line;
}

/* An access to global memory: each line takes one pass. */
static void touch_global(struct exec_probe *probe, const struct exec_warp *warp,
                         const uint64_t address[], uint32_t mask, uint32_t bytes)
{
    const uint32_t time = probe->touched[warp->index];
    uint64_t latest = UINT64_MAX;
    uint32_t lines = 0;
    struct line *line = NULL;

    probe->all_before = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t at = address[__builtin_ctz(rest)];
        const uint64_t end = (at + bytes - 1) >> SECTOR_BITS;
        for (uint64_t sector = at >> SECTOR_BITS; sector <= end; sector++) {
            if (sector == latest) continue;
            if (line == NULL || sector / SECTORS != latest / SECTORS) {
                line = line_at(probe, sector / SECTORS, time);
                lines++;
            }
            const uint32_t bit = 1u << sector % SECTORS;
            const bool is_there = (line->sectors & bit) != 0;
            probe->found += is_there;
            probe->all_before &= is_there && line->first < time;
            line->sectors |= bit;
            latest = sector;
        }
    }
    probe->touched[warp->index] += lines;
    probe->sums.wavefronts += lines;
}

/* An access to shared memory: each pass serves one word per bank, and lanes that want the same word
 * share it. Elements wider than a word are served for a part of the warp at a time. */
static void touch_shared(struct exec_probe *probe, const uint64_t address[], uint32_t mask,
                         uint32_t bytes)
{
    const uint32_t words = bytes < 4 ? 1 : bytes / 4, lanes = EXEC_LANES / words;
    for (uint32_t part = 0; part < words; part++) {
        uint64_t latest[BANKS];
        uint32_t asked[BANKS] = {0}, most = 0;
        for (uint32_t l = part * lanes; l < (part + 1) * lanes; l++) {
            for (uint32_t w = 0; w < words && (mask >> l & 1); w++) {
                const uint64_t word = address[l] / 4 + w;
                const uint32_t bank = word % BANKS;
                if (asked[bank] > 0 && latest[bank] == word) continue;
                latest[bank] = word;
                if (++asked[bank] > most) most = asked[bank];
            }
        }
        probe->sums.wavefronts += most;
    }
}

void exec_probe_before(struct exec_probe *probe, const struct exec_warp *warp,
                       const struct exec_inst *inst)
{
    const struct exec_function *function = warp->frame->function;
    const uint8_t form = function->forms != NULL ? function->forms[inst - function->code] : 0;

    probe->sums.instructions++;
    probe->transactions = warp->worker->counts.transactions;
    probe->chain = warp->chain;
    probe->found = 0;
    probe->all_before = false;
    if (!(form & EXEC_FORM_WIDTH)) return;
    const uint32_t mask = lanes_of(warp, inst), bytes = 1u << ((form & EXEC_FORM_WIDTH) - 1);
    const uint64_t *wide = exec_slot(warp, inst->a);
    const uint32_t *narrow = exec_slot(warp, inst->a);
    uint64_t address[EXEC_LANES];
    bool is_shared = form & EXEC_FORM_SHARED;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        address[l] = form & EXEC_FORM_NARROW ? (uint32_t)(narrow[l] + (uint32_t)inst->imm)
                                             : wide[l] + inst->imm;
        is_shared |= (address[l] & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED;
        if (!is_shared && (address[l] & EXEC_WINDOW_MASK) != 0) return;
    }
    if (is_shared)
        touch_shared(probe, address, mask, bytes);
    else if (mask != 0)
        touch_global(probe, warp, address, mask, bytes);
    if (form & EXEC_FORM_STORE) probe->found = 0; /* stores always go to memory */
}

/* Returns the increase of a count, which may go down: the counts of polls are taken back
 * (ops/poll.c). */
static uint64_t rise(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* At most as many sectors can have been found as the row itself counted. */
void exec_probe_after(struct exec_probe *probe, const struct exec_warp *warp)
{
    struct exec_probed *sums = &probe->sums;
    const uint64_t sectors = rise(probe->transactions, warp->worker->counts.transactions);
    const uint64_t waits = rise(probe->chain, warp->chain);
    sums->sectors += sectors;
    sums->found += probe->found < sectors ? probe->found : sectors;
    sums->waits += waits;
    if (probe->all_before) sums->short_waits += waits;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Returns the part of `all` that `part` is of `whole`. */
static uint64_t share(uint64_t all, uint64_t part, uint64_t whole)
{
    return part == 0 ? 0 : (uint64_t)((double)all * ((double)part / (double)whole));
}

void exec_probe_count(const struct exec_probe *probe, const struct exec_launch *launch,
                      struct exec_counts *counts)
{
    struct exec_probed *probed = launch->function->probed;
    if (probe != NULL) {
        *probed = probe->sums;
        probed->known = true;
        probed->dynamic_shared = launch->dynamic_shared;
        memcpy(probed->grid, launch->grid, sizeof probed->grid);
        memcpy(probed->block, launch->block, sizeof probed->block);
    }
    if (!exec_is_probed(launch)) return;
    counts->found = share(counts->transactions, probed->found, probed->sectors);
    counts->short_chain = share(counts->longest_chain, probed->short_waits, probed->waits);
    counts->wavefronts = share(counts->warp_instructions, probed->wavefronts, probed->instructions);
}
