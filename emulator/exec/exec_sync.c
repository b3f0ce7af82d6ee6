/* Instructions that lanes of a warp execute together: shuffles, votes, matches, reductions,
 * bar.warp.sync. PTX ISA 9.7.9.6, 9.7.13.
 *
 * Each lane gives a value and names the lanes that it expects (its member mask). A lane is served
 * when every named lane that has not exited waits at the same kind of instruction with the same
 * mask, even if that instruction stands elsewhere in the program: then the row's handler computes
 * the results for all of them.
 */
#include "emulator/exec/exec_lanes.h"
#include "emulator/exec/exec_tables.h"

/* What reading a lane that does not take part gives; PTX leaves it open. */
#define NO_VALUE 0xa5a5a5a5u

/* The lanes that are served and the value of each are in warp->mask and warp->exchange; the member
 * masks in warp->members. */

static const uint32_t *slot32(const struct exec_warp *warp, uint32_t offset)
{
    return exec_slot(warp, offset);
}

static void put32(struct exec_warp *warp, uint32_t slot, unsigned lane, uint32_t value)
{
    ((uint32_t *)exec_slot(warp, slot))[lane] = value;
}

static void put_predicate(struct exec_warp *warp, uint32_t slot, unsigned lane, bool value)
{
    uint32_t *predicate = exec_slot(warp, slot);
    *predicate = (*predicate & ~(1u << lane)) | (uint32_t)value << lane;
}

#define FOR_LANES_OF(mask)                                                                         \
    for (uint32_t rest = (mask), l; rest && (l = (uint32_t)__builtin_ctz(rest), true);             \
         rest &= rest - 1)

/* Whether lanes see each other: both take part, by lane l's mask. */
static bool visible(const struct exec_warp *warp, uint32_t l, uint32_t other)
{
    return (warp->members[l] & warp->live) >> other & 1;
}

/* ---- shfl.sync: d|p = a of lane j --------------------------------------------------------------
 * b: lane or distance; c: bits 4..0 the clamp, bits 12..8 the segment mask. */

#define DEFINE_SHFL(name, source, in_range)                                                        \
    static int op_shfl_##name(struct exec_warp *warp, const struct exec_inst *inst)                \
    {                                                                                              \
        const uint32_t *bb = slot32(warp, inst->b);                                                \
        const uint32_t *cc = slot32(warp, inst->c);                                                \
        FOR_LANES_OF(warp->mask)                                                                   \
        {                                                                                          \
            const int32_t lane = (int32_t)l;                                                       \
            const int32_t b = (int32_t)(bb[l] & 31);                                               \
            const int32_t clamp = (int32_t)(cc[l] & 31);                                           \
            const int32_t segment = (int32_t)(cc[l] >> 8 & 31);                                    \
            const int32_t last = (lane & segment) | (clamp & ~segment);                            \
            const int32_t first = lane & segment;                                                  \
            const int32_t j = (source);                                                            \
            const bool p = (in_range);                                                             \
            const uint32_t from = p ? (uint32_t)j : l;                                             \
            (void)first;                                                                           \
            put32(warp, inst->d, l,                                                                \
                  visible(warp, l, from) ? (u32)warp->exchange[from] : NO_VALUE);                  \
            put_predicate(warp, inst->e, l, p);                                                    \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }
DEFINE_SHFL(up, lane - b, j >= last)
DEFINE_SHFL(down, lane + b, j <= last)
DEFINE_SHFL(bfly, lane ^ b, j <= last)
DEFINE_SHFL(idx, first | (b & ~segment), j <= last)

/* ---- vote.sync, match, elect --------------------------------------------------------------------
 */

/* Lanes of l's group whose value is true. */
static uint32_t ballot(const struct exec_warp *warp, uint32_t l)
{
    uint32_t result = 0;
    const uint32_t group = warp->members[l] & warp->live;
    for (uint32_t others = group; others; others &= others - 1) {
        const uint32_t j = (uint32_t)__builtin_ctz(others);
        result |= warp->exchange[j] ? 1u << j : 0;
    }
    return result;
}

#define DEFINE_VOTE(name, expression)                                                              \
    static int op_vote_##name(struct exec_warp *warp, const struct exec_inst *inst)                \
    {                                                                                              \
        uint32_t votes = 0, group = 0;                                                             \
        FOR_LANES_OF(warp->mask)                                                                   \
        {                                                                                          \
            if (group != (warp->members[l] & warp->live)) {                                        \
                group = warp->members[l] & warp->live;                                             \
                votes = ballot(warp, l);                                                           \
            }                                                                                      \
            put_predicate(warp, inst->d, l, expression);                                           \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }
DEFINE_VOTE(all, votes == group)
DEFINE_VOTE(any, votes != 0)
DEFINE_VOTE(uni, votes == group || votes == 0)

static int op_vote_ballot(struct exec_warp *warp, const struct exec_inst *inst)
{
    uint32_t votes = 0, group = 0;
    FOR_LANES_OF(warp->mask)
    {
        if (group != (warp->members[l] & warp->live)) {
            group = warp->members[l] & warp->live;
            votes = ballot(warp, l);
        }
        put32(warp, inst->d, l, votes);
    }
    return EXEC_GO;
}

/* The lanes of l's group that gave the same value as l. */
static uint32_t same_value(const struct exec_warp *warp, uint32_t l)
{
    uint32_t result = 0;
    for (uint32_t others = warp->members[l] & warp->live; others; others &= others - 1) {
        const uint32_t j = (uint32_t)__builtin_ctz(others);
        result |= warp->exchange[j] == warp->exchange[l] ? 1u << j : 0;
    }
    return result;
}

static int op_match_any(struct exec_warp *warp, const struct exec_inst *inst)
{
    FOR_LANES_OF(warp->mask) put32(warp, inst->d, l, same_value(warp, l));
    return EXEC_GO;
}

static int op_match_all(struct exec_warp *warp, const struct exec_inst *inst)
{
    FOR_LANES_OF(warp->mask)
    {
        const uint32_t group = warp->members[l] & warp->live;
        const bool all = same_value(warp, l) == group;
        put32(warp, inst->d, l, all ? group : 0);
        put_predicate(warp, inst->e, l, all);
    }
    return EXEC_GO;
}

/* elect.sync: the lowest lane of the mask leads. */
static int op_elect(struct exec_warp *warp, const struct exec_inst *inst)
{
    FOR_LANES_OF(warp->mask)
    {
        const uint32_t leader = (uint32_t)__builtin_ctz(warp->members[l] & warp->live);
        put32(warp, inst->d, l, leader);
        put_predicate(warp, inst->e, l, leader == l);
    }
    return EXEC_GO;
}

/* ---- redux.sync ---------------------------------------------------------------------------------
 */

#define DEFINE_REDUX(name, T, expression)                                                          \
    static int op_redux_##name(struct exec_warp *warp, const struct exec_inst *inst)               \
    {                                                                                              \
        FOR_LANES_OF(warp->mask)                                                                   \
        {                                                                                          \
            uint32_t others = warp->members[l] & warp->live;                                       \
            T a = (T)(u32)warp->exchange[__builtin_ctz(others)];                                   \
            for (others &= others - 1; others; others &= others - 1) {                             \
                const T b = (T)(u32)warp->exchange[__builtin_ctz(others)];                         \
                a = (T)(expression);                                                               \
            }                                                                                      \
            put32(warp, inst->d, l, (u32)a);                                                       \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }
DEFINE_REDUX(add, u32, a + b)
DEFINE_REDUX(min_u32, u32, a < b ? a : b)
DEFINE_REDUX(max_u32, u32, a > b ? a : b)
DEFINE_REDUX(min_s32, s32, a < b ? a : b)
DEFINE_REDUX(max_s32, s32, a > b ? a : b)
DEFINE_REDUX(and, u32, a &b)
DEFINE_REDUX(or, u32, a | b)
DEFINE_REDUX(xor, u32, a ^ b)

static int op_bar_warp(struct exec_warp *warp, const struct exec_inst *inst)
{
    (void)warp;
    (void)inst;
    return EXEC_GO;
}

/* ---- waiting for each other
 * ---------------------------------------------------------------------- */

/* Takes the value and the member mask of each lane of the running fragment. Slot a: the value, 64
 * bits wide if cache is set; imm: the slot of the masks. */
static void deposit(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t *members = slot32(warp, (uint32_t)inst->imm);
    const uint32_t *narrow = exec_slot(warp, inst->a);
    const uint64_t *wide = exec_slot(warp, inst->a);
    FOR_LANES_OF(warp->mask)
    {
        warp->exchange[l] = inst->cache ? wide[l] : narrow[l];
        warp->members[l] = members[l];
        warp->exchange_kind[l] = inst->inner;
    }
}

int exec_sync_run(struct exec_warp *warp, const struct exec_inst *inst)
{
    deposit(warp, inst);
    uint32_t missing = 0;
    FOR_LANES_OF(warp->mask)
    {
        if (!(warp->members[l] >> l & 1))
            return exec_stop(warp, inst, EXEC_TRAP, l,
                             "lane %u of the warp executes this .sync instruction, but its mask "
                             "0x%08x does not name it: the mask must hold every lane that calls",
                             l, warp->members[l]);
        missing |= warp->members[l] & warp->live & ~warp->mask;
        /* Lanes here that l names but that name others themselves are not its partners. */
        missing |= warp->members[l] ^ warp->members[__builtin_ctz(warp->members[l] & warp->mask)];
    }
    if (!missing) return inst->inner(warp, inst);
    warp->exchanging |= warp->mask;
    exec_wait(warp, inst, EXEC_WAIT_SYNC, 0);
    return exec_sync_check(warp);
}

/* The waiting lanes whose partners are all there. */
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
    if (!complete) return EXEC_RESCHEDULE;
    warp->exchanging &= ~complete;
    const uint32_t count = warp->fragment_count;
    struct exec_fragment served[EXEC_LANES];
    uint32_t served_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        struct exec_fragment *fragment = &warp->fragments[k];
        const uint32_t mask = fragment->mask & complete;
        if (fragment->wait != EXEC_WAIT_SYNC || !mask) continue;
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

/* activemask: the lanes that execute this together; no lane waits. */
static int op_activemask(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t mask = warp->mask;
    FOR_LANES_OF(mask) put32(warp, inst->d, l, mask);
    return EXEC_GO;
}

const struct exec_row exec_sync_rows[] = {
    {"shfl.sync.up.b32", op_shfl_up, "u32 u32 u32 u32"},
    {"shfl.sync.down.b32", op_shfl_down, "u32 u32 u32 u32"},
    {"shfl.sync.bfly.b32", op_shfl_bfly, "u32 u32 u32 u32"},
    {"shfl.sync.idx.b32", op_shfl_idx, "u32 u32 u32 u32"},
    {"vote.sync.all.pred", op_vote_all, "p p"},
    {"vote.sync.any.pred", op_vote_any, "p p"},
    {"vote.sync.uni.pred", op_vote_uni, "p p"},
    {"vote.sync.ballot.b32", op_vote_ballot, "u32 p"},
    {"match.any.sync.b32", op_match_any, "u32 u32"},
    {"match.any.sync.b64", op_match_any, "u32 u64"},
    {"match.all.sync.b32", op_match_all, "u32 u32"},
    {"match.all.sync.b64", op_match_all, "u32 u64"},
    {"elect.sync", op_elect, "u32"},
    {"redux.sync.add.u32 redux.sync.add.s32", op_redux_add, "u32 u32"},
    {"redux.sync.min.u32", op_redux_min_u32, "u32 u32"},
    {"redux.sync.max.u32", op_redux_max_u32, "u32 u32"},
    {"redux.sync.min.s32", op_redux_min_s32, "u32 u32"},
    {"redux.sync.max.s32", op_redux_max_s32, "u32 u32"},
    {"redux.sync.and.b32", op_redux_and, "u32 u32"},
    {"redux.sync.or.b32", op_redux_or, "u32 u32"},
    {"redux.sync.xor.b32", op_redux_xor, "u32 u32"},
    {"bar.warp.sync", op_bar_warp, ""},
    {"activemask.b32", op_activemask, "u32"},
    {NULL, NULL, NULL}};
