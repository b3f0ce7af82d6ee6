#include "emulator/driver/findings/kernel.h"
#include "emulator/driver/findings/finding.h"

#include <stdlib.h>
#include <string.h>

struct exec_racecheck *racecheck_begin(void)
{
    return races_watching() ? exec_racecheck_create() : NULL;
}

/* ---- reports of what a kernel did ----------------------------------------------------------- */

const enum trace_access kernel_accesses[EXEC_ACCESS_COUNT] = {
    [EXEC_LOAD] = ACCESS_READ, [EXEC_STORE] = ACCESS_WRITE, [EXEC_ATOMIC] = ACCESS_ATOMIC};

static void take_side(struct trace_record *found, int which, const struct exec_racecheck_side *from)
{
    struct trace_side *side = &found->finding.sides[which];
    side->access = (uint8_t)kernel_accesses[from->access];
    side->known = from->known;
    memcpy(side->block, from->block, sizeof side->block);
    memcpy(side->thread, from->thread, sizeof side->thread);
    finding_line(found, which, from->file, from->line);
}

static enum trace_finding_id id_of(const struct exec_racecheck_found *wrong)
{
    const bool warp = exec_racecheck_in_warp(wrong);
    switch (wrong->wrong) {
    case EXEC_WRONG_SHARED:
        if (wrong->untold) return FINDING_SHARED_RACE_UNTOLD;
        if (wrong->met) return FINDING_SHARED_RACE_UNFENCED;
        if (wrong->apart) return FINDING_SHARED_RACE_OF_PARTS;
        return warp ? FINDING_SHARED_RACE_IN_WARP : FINDING_SHARED_RACE;
    case EXEC_WRONG_GLOBAL:
        if (wrong->met) return FINDING_GLOBAL_RACE_UNFENCED;
        if (wrong->apart) return FINDING_GLOBAL_RACE_OF_PARTS;
        return warp ? FINDING_GLOBAL_RACE_IN_WARP : FINDING_GLOBAL_RACE;
    case EXEC_WRONG_COPY:
        return FINDING_COPY_NOT_AWAITED;
    case EXEC_WRONG_SOURCE:
        return FINDING_COPY_STILL_READS;
    case EXEC_WRONG_PROXY:
        return wrong->region != NULL ? FINDING_NO_MAP_FENCE : FINDING_NO_PROXY_FENCE;
    case EXEC_WRONG_BLOCKS:
        return FINDING_RACE_BETWEEN_BLOCKS;
    case EXEC_WRONG_SCOPE:
        return FINDING_RACE_OF_SCOPE;
    case EXEC_WRONG_UNFENCED:
        return FINDING_RACE_UNFENCED;
    case EXEC_WRONG_UNACQUIRED:
        return FINDING_RACE_UNACQUIRED;
    case EXEC_WRONG_VOLATILE:
        return FINDING_RACE_OF_VOLATILE;
    case EXEC_WRONG_GRID:
        return FINDING_RACE_IN_GRID;
    case EXEC_WRONG_VOLATILE_THREADS:
        return wrong->region != NULL ? FINDING_GLOBAL_RACE_OF_VOLATILE
                                     : FINDING_SHARED_RACE_OF_VOLATILE;
    case EXEC_WRONG_CLUSTER:
        return FINDING_CLUSTER_RACE;
    case EXEC_WRONG_ENDED:
        return FINDING_CLUSTER_BLOCK_MAY_END;
    case EXEC_WRONG_LATER:
        return FINDING_WAITS_FOR_LATER_BLOCK;
    case EXEC_WRONG_LOST:
        return wrong->region != NULL ? FINDING_GLOBAL_UPDATE_LOST : FINDING_SHARED_UPDATE_LOST;
    case EXEC_WRONG_UNWRITTEN:
        return wrong->first.access == EXEC_ATOMIC ? FINDING_SHARED_CHANGE_OF_UNWRITTEN
                                                  : FINDING_SHARED_READ_OF_UNWRITTEN;
    case EXEC_WRONG_ABSENT:
        return FINDING_ABSENT_VALUE;
    case EXEC_WRONG_BARRIER:
        break;
    }
    return FINDING_BARRIERS_APART;
}

static void report(const struct operation *operation, const struct exec_racecheck_found *wrong)
{
    const struct exec_racecheck_side *other = &wrong->first, *this = &wrong->second;
    const bool of_threads = wrong->wrong == EXEC_WRONG_SHARED ||
                            wrong->wrong == EXEC_WRONG_GLOBAL || wrong->wrong == EXEC_WRONG_CLUSTER;
    const bool one_reads = exec_racecheck_one_reads(wrong);
    /* The side that reads is named first, or the one that ran later: which of the two ran first is
     * chance. */
    if (other->access == EXEC_LOAD && (one_reads || (of_threads && other->known))) {
        other = &wrong->second;
        this = &wrong->first;
    }
    struct trace_record found =
        finding_at_work(id_of(wrong), &operation->record, operation->stream_caller);
    take_side(&found, 0, this);
    take_side(&found, 1, other);
    /* Of two blocks only the thread that ran later is known; which one that is, is chance, so
     * neither is named.
     */
    if (one_reads) found.finding.sides[0].known = found.finding.sides[1].known = 0;
    if (wrong->region != NULL) {
        finding_memory(&found, 0, wrong->region);
        found.address = wrong->region->address + wrong->offset;
    }
    found.finding.numbers[0] = wrong->wrong == EXEC_WRONG_LATER ? wrong->waiting : wrong->offset;
    found.finding.numbers[1] = wrong->home;
    found.bytes = wrong->bytes;
    found.count = wrong->count;
    finding_put(&found);
}

void racecheck_end(struct operation *operation, struct exec_racecheck *watch)
{
    if (watch == NULL) return;
    for (size_t i = 0; i < exec_racecheck_count(watch); i++)
        report(operation, exec_racecheck_at(watch, i));
    exec_racecheck_destroy(watch);
}
