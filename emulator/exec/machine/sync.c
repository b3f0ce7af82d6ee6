/* The .sync instructions, which lanes of a warp execute together: which lanes wait for which. The
 * results are computed in ops/sync.c.
 *
 * Each lane gives a value and names the lanes that it expects (its member mask). A lane is served
 * when every named lane that has not exited waits at the same kind of instruction with the same
 * mask, even if that instruction is elsewhere in the program. Then the row's handler computes the
 * results for all of them.
 */
#include "emulator/exec/check/check.h"
#include "emulator/exec/machine/private.h"

#include <assert.h>

#define FOR_LANES_OF(mask)                                                                         \
    for (uint32_t rest = (mask), l; rest && (l = (uint32_t)__builtin_ctz(rest), true);             \
         rest &= rest - 1)

/* These lanes have all their partners: orders what each group of partners does. */
static void order_groups(const struct exec_warp *warp, uint32_t lanes)
{
    while (lanes) {
        const uint32_t group = warp->members[__builtin_ctz(lanes)] & lanes;
        exec_shadow_order_lanes(warp, group);
        lanes &= ~group;
    }
}

int exec_sync_meet(struct exec_warp *warp, const struct exec_inst *inst)
{
    uint32_t missing = 0, grouped = 0;
    FOR_LANES_OF(warp->mask)
    {
        warp->exchange_kind[l] = inst->inner;
        if (!(warp->members[l] >> l & 1))
            return exec_stop(warp, inst, EXEC_MASK, l,
                             &(struct exec_reason){.finding = FINDING_LANE_NOT_IN_MASK,
                                                   .numbers = {l, warp->members[l]}});
        const uint32_t here = warp->members[l] & warp->mask;
        const uint32_t first = (uint32_t)__builtin_ctz(here);
        missing |= warp->members[l] & warp->live & ~warp->mask;
        /* Present lanes that l names, but whose own mask differs, are not its partners: then the
         * first of them has another mask, or one of them is in two groups. */
        missing |= warp->members[l] ^ warp->members[first];
        if (first != l) continue;
        missing |= here & grouped;
        grouped |= here;
    }
    if (!missing) {
        order_groups(warp, warp->mask);
        return inst->inner(warp, inst);
    }
    warp->exchanging |= warp->mask;
    exec_wait(warp, inst, EXEC_WAIT_SYNC, 0);
    return exec_sync_check(warp);
}

/* Returns the waiting lanes whose partners have all arrived. */
static uint32_t complete_lanes(const struct exec_warp *warp)
{
    uint32_t complete = 0;
    FOR_LANES_OF(warp->exchanging & ~complete)
    {
        const uint32_t group = warp->members[l] & warp->live;
        bool ready = !(group & ~warp->exchanging);
        for (uint32_t others = group; ready && others; others &= others - 1) {
            const uint32_t j = (uint32_t)__builtin_ctz(others);
            ready = warp->members[j] == warp->members[l] &&
                    warp->exchange_kind[j] == warp->exchange_kind[l];
        }
        if (ready) complete |= group;
    }
    return complete;
}

int exec_sync_check(struct exec_warp *warp)
{
    const uint32_t complete = complete_lanes(warp);
    assert((complete & ~(warp->exchanging & warp->live)) == 0);
    if (!complete) return EXEC_RESCHEDULE;
    order_groups(warp, complete);
    warp->exchanging &= ~complete;
    const uint32_t count = warp->fragment_count;
    struct exec_fragment served[EXEC_LANES];
    uint32_t served_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        struct exec_fragment *fragment = &warp->fragments[k];
        const uint32_t mask = fragment->mask & complete;
        if (fragment->wait != EXEC_WAIT_SYNC || !mask) continue;
        warp->frame = fragment->frame;
        warp->slots = fragment->frame->slots;
        warp->mask = mask;
        fragment->pc->inner(warp, fragment->pc);
        served[served_count++] = (struct exec_fragment){
            .pc = fragment->pc + 1, .frame = fragment->frame, .mask = mask, .tick = fragment->tick};
        fragment->mask &= ~mask;
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < count; k++)
        if (warp->fragments[k].mask) warp->fragments[kept++] = warp->fragments[k];
    warp->fragment_count = kept;
    warp->mask = 0;
    for (uint32_t k = 0; k < served_count; k++)
        exec_split(warp, served[k].mask, served[k].pc, served[k].frame);
    return EXEC_RESCHEDULE;
}
