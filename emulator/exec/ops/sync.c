/* Warp-wide operations: shuffles, votes, matches, reductions, bar.warp.sync. PTX ISA 9.7.9.6,
 * 9.7.13. Compiled once per EXEC_LEVEL.
 *
 * When a row's handler runs, warp->mask has the lanes that are served, warp->exchange the value
 * that each lane gave, and warp->members the lanes' member masks (machine/sync.c collects them).
 */
#include "emulator/exec/check/poison.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"

/* The value read from a lane that does not take part; PTX leaves it open. */
#define NO_VALUE 0xa5a5a5a5u

/* Stores `value` to slot d in each lane l that is served. */
#define PUT_LANES(value)                                                                           \
    do {                                                                                           \
        u32 *d = exec_slot(warp, inst->d);                                                         \
        const u32 mask = warp->mask;                                                               \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            const u32 result = (value);                                                            \
            d[l] = EXEC_IN(mask) ? result : d[l];                                                  \
        }                                                                                          \
    } while (0)

static inline void put_predicates(struct exec_warp *warp, uint32_t slot, u32 values)
{
    u32 *predicate = exec_slot(warp, slot);
    *predicate = (*predicate & ~warp->mask) | (values & warp->mask);
}

/* The lanes that take part together with lane l. */
#define GROUP(l) (warp->members[l] & warp->live)

/* ---- shfl.sync: d|p = a of lane j ------------------------------------------------------------ */

/* b: source lane or distance; c: bits 4..0 the clamp, bits 12..8 the segment mask. */

#define DEFINE_SHFL(name, source, in_range)                                                        \
    static int op_shfl_##name(struct exec_warp *warp, const struct exec_inst *inst)                \
    {                                                                                              \
        const u32 *bb = exec_slot(warp, inst->b);                                                  \
        const u32 *cc = exec_slot(warp, inst->c);                                                  \
        const u32 live = warp->live;                                                               \
        u32 given[EXEC_LANES], from[EXEC_LANES], brought[EXEC_LANES];                              \
        u32 inside[EXEC_LANES], missing[EXEC_LANES], all = live;                                   \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            const s32 lane = (s32)l;                                                               \
            const s32 b = (s32)(bb[l] & 31);                                                       \
            const s32 clamp = (s32)(cc[l] & 31);                                                   \
            const s32 segment = (s32)(cc[l] >> 8 & 31);                                            \
            const s32 last = (lane & segment) | (clamp & ~segment);                                \
            const s32 first = lane & segment;                                                      \
            const s32 j = (source);                                                                \
            const bool p = (in_range);                                                             \
            (void)first;                                                                           \
            given[l] = (u32)warp->exchange[l];                                                     \
            from[l] = p ? (u32)j & 31 : l;                                                         \
            inside[l] = p;                                                                         \
            all &= warp->members[l];                                                               \
        }                                                                                          \
        exec_permute(brought, given, from);                                                        \
        put_predicates(warp, inst->e, exec_bits(inside));                                          \
        if (all == EXEC_ALL && warp->poison == NULL) {                                             \
            PUT_LANES(brought[l]);                                                                 \
            return EXEC_GO;                                                                        \
        }                                                                                          \
        EXEC_FOR_LANES missing[l] = ~((warp->members[l] & live) >> from[l]) & 1;                   \
        const u32 absent = exec_bits(missing) & warp->mask;                                        \
        const bool begins =                                                                        \
            (absent || warp->poison != NULL) && exec_poison_shuffle(warp, inst, from, absent);     \
        PUT_LANES(missing[l] ? NO_VALUE : brought[l]);                                             \
        return begins ? EXEC_RESCHEDULE : EXEC_GO;                                                 \
    }
DEFINE_SHFL(up, lane - b, j >= last)
DEFINE_SHFL(down, lane + b, j <= last)
DEFINE_SHFL(bfly, lane ^ b, j <= last)
DEFINE_SHFL(idx, first | (b & ~segment), j <= last)

/* ---- vote.sync, match, elect ----------------------------------------------------------------- */

/* Returns a mask of the lanes whose value is true. Its bits in a group are the group's votes. */
static inline u32 ballot(const struct exec_warp *warp)
{
    u32 result = 0;
    EXEC_FOR_LANES result |= warp->exchange[l] ? 1u << l : 0;
    return result;
}

#define DEFINE_VOTE(name, expression)                                                              \
    static int op_vote_##name(struct exec_warp *warp, const struct exec_inst *inst)                \
    {                                                                                              \
        const u32 all_votes = ballot(warp);                                                        \
        u32 result = 0;                                                                            \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            const u32 group = GROUP(l), votes = all_votes & group;                                 \
            (void)group;                                                                           \
            result |= (expression) ? 1u << l : 0;                                                  \
        }                                                                                          \
        put_predicates(warp, inst->d, result);                                                     \
        return EXEC_GO;                                                                            \
    }
DEFINE_VOTE(all, votes == group)
DEFINE_VOTE(any, votes != 0)
DEFINE_VOTE(uni, votes == group || votes == 0)

static int op_vote_ballot(struct exec_warp *warp, const struct exec_inst *inst)
{
    const u32 votes = ballot(warp);
    PUT_LANES(votes & GROUP(l));
    return EXEC_GO;
}

/* Returns the lanes of lane k's group that gave the same value as lane k. */
static inline u32 same_value(const struct exec_warp *warp, unsigned k)
{
    const u64 value = warp->exchange[k];
    u32 result = 0;
    EXEC_FOR_LANES result |= warp->exchange[l] == value ? 1u << l : 0;
    return result & GROUP(k);
}

static int op_match_any(struct exec_warp *warp, const struct exec_inst *inst)
{
    u32 same[EXEC_LANES];
    for (unsigned k = 0; k < EXEC_LANES; k++) same[k] = same_value(warp, k);
    PUT_LANES(same[l]);
    return EXEC_GO;
}

static int op_match_all(struct exec_warp *warp, const struct exec_inst *inst)
{
    u32 same[EXEC_LANES], all = 0;
    for (unsigned k = 0; k < EXEC_LANES; k++) {
        same[k] = same_value(warp, k);
        all |= same[k] == GROUP(k) ? 1u << k : 0;
    }
    PUT_LANES(EXEC_IN(all) ? same[l] : 0);
    put_predicates(warp, inst->e, all);
    return EXEC_GO;
}

/* elect.sync: the lowest lane of the mask is elected. */
static int op_elect(struct exec_warp *warp, const struct exec_inst *inst)
{
    u32 leader[EXEC_LANES], leads = 0;
    for (unsigned k = 0; k < EXEC_LANES; k++) {
        leader[k] = GROUP(k) ? (u32)__builtin_ctz(GROUP(k)) : 0;
        leads |= leader[k] == k ? 1u << k : 0;
    }
    PUT_LANES(leader[l]);
    put_predicates(warp, inst->e, leads);
    return EXEC_GO;
}

/* ---- redux.sync ------------------------------------------------------------------------------ */

#define DEFINE_REDUX(name, T, expression)                                                          \
    static int op_redux_##name(struct exec_warp *warp, const struct exec_inst *inst)               \
    {                                                                                              \
        u32 sums[EXEC_LANES] = {0};                                                                \
        u32 known = 0; /* the group whose result is `latest` */                                    \
        T latest = 0;                                                                              \
        for (u32 rest = warp->mask; rest; rest &= rest - 1) {                                      \
            const unsigned k = (unsigned)__builtin_ctz(rest);                                      \
            if (GROUP(k) != known) {                                                               \
                u32 others = known = GROUP(k);                                                     \
                T a = (T)(u32)warp->exchange[__builtin_ctz(others)];                               \
                for (others &= others - 1; others; others &= others - 1) {                         \
                    const T b = (T)(u32)warp->exchange[__builtin_ctz(others)];                     \
                    a = (T)(expression);                                                           \
                }                                                                                  \
                latest = a;                                                                        \
            }                                                                                      \
            sums[k] = (u32)latest;                                                                 \
        }                                                                                          \
        PUT_LANES(sums[l]);                                                                        \
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

/* activemask: the lanes that execute this instruction together; none waits. */
static int op_activemask(struct exec_warp *warp, const struct exec_inst *inst)
{
    PUT_LANES(mask);
    return EXEC_GO;
}

/* ---- entry: collecting the lanes ------------------------------------------------------------- */

/* Takes the value and the member mask of each lane of the running fragment. If all name the same
 * lanes, and those are all here, the row runs at once; else the lanes wait. Slot a: the value, 64
 * bits wide if cache is set; imm: the slot of the masks; inner: the row. */
static int op_sync(struct exec_warp *warp, const struct exec_inst *inst)
{
    const u32 *members = exec_slot(warp, (uint32_t)inst->imm);
    const u32 *narrow = exec_slot(warp, inst->a);
    const u64 *wide = exec_slot(warp, inst->a);
    const u32 mask = warp->mask;
    const u32 named = members[__builtin_ctz(mask)];
    u32 other = 0;
    if (mask == EXEC_ALL) {
        EXEC_FOR_LANES other |= members[l] ^ named;
        memcpy(warp->members, members, sizeof warp->members);
        if (inst->cache)
            memcpy(warp->exchange, wide, sizeof warp->exchange);
        else
            EXEC_FOR_LANES warp->exchange[l] = narrow[l];
    } else {
        EXEC_FOR_LANES
        {
            other |= EXEC_IN(mask) ? members[l] ^ named : 0;
            warp->members[l] = EXEC_IN(mask) ? members[l] : warp->members[l];
        }
        if (inst->cache)
            EXEC_FOR_LANES warp->exchange[l] = EXEC_IN(mask) ? wide[l] : warp->exchange[l];
        else
            EXEC_FOR_LANES warp->exchange[l] = EXEC_IN(mask) ? narrow[l] : warp->exchange[l];
    }
    if (!other && !(mask & ~named) && !(named & warp->live & ~mask)) {
        exec_shadow_order_lanes(warp, mask);
        return inst->inner(warp, inst);
    }
    return exec_sync_meet(warp, inst);
}

const struct exec_row EXEC_TABLE(exec_sync_rows)[] = {
    {"sync", op_sync, ""},
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
