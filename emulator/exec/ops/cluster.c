/* Clusters: the barrier of all their blocks, and addresses of each other's shared memory. PTX ISA
 * 9.0, 9.7.13.4, 9.7.9.24, 9.7.9.25. machine/cluster.c implements the waiting.
 */
#include "emulator/exec/cluster.h"
#include "emulator/exec/ops/tables.h"

/* imm: .relaxed, an arrival that does not release. */
static int op_arrive(struct exec_warp *warp, const struct exec_inst *inst)
{
    return exec_cluster_arrive(warp, inst, !inst->imm);
}

static int op_wait(struct exec_warp *warp, const struct exec_inst *inst)
{
    return exec_cluster_await(warp, inst);
}

#define FOR_LANES                                                                                  \
    for (uint32_t rest = warp->mask, l; rest && (l = (uint32_t)__builtin_ctz(rest), true);         \
         rest &= rest - 1)

/* A rank beyond every cluster gives an address that no block can use. */
static uint64_t of_rank(uint64_t address, uint32_t rank)
{
    const uint64_t named = rank < EXEC_CLUSTER_MOST ? rank + UINT64_C(1) : EXEC_RANK_BITS;
    return (address & ~EXEC_RANK_MASK) | named << EXEC_RANK_SHIFT;
}

/* mapa: slot a: an address, b: a rank; d: the corresponding address in that block. getctarank: d:
 * the rank of address a. The rank has the same bits in a generic address as in one of shared
 * memory. */
#define DEFINE_MAPA(T)                                                                             \
    static int op_mapa_##T(struct exec_warp *warp, const struct exec_inst *inst)                   \
    {                                                                                              \
        const T *a = exec_slot(warp, inst->a);                                                     \
        const uint32_t *b = exec_slot(warp, inst->b);                                              \
        T *d = exec_slot(warp, inst->d);                                                           \
        FOR_LANES d[l] = (T)of_rank(a[l], b[l]);                                                   \
        return EXEC_GO;                                                                            \
    }                                                                                              \
    static int op_rank_##T(struct exec_warp *warp, const struct exec_inst *inst)                   \
    {                                                                                              \
        const T *a = exec_slot(warp, inst->a);                                                     \
        uint32_t *d = exec_slot(warp, inst->d);                                                    \
        FOR_LANES                                                                                  \
        {                                                                                          \
            const uint32_t named = (uint32_t)(a[l] >> EXEC_RANK_SHIFT) & EXEC_RANK_BITS;           \
            d[l] = named ? named - 1 : warp->block->rank;                                          \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }
DEFINE_MAPA(uint32_t)
DEFINE_MAPA(uint64_t)

const struct exec_row exec_cluster_rows[] = {{"barrier.cluster.arrive", op_arrive, ""},
                                             {"barrier.cluster.wait", op_wait, ""},
                                             {"mapa.u32", op_mapa_uint32_t, "u32 u32 u32"},
                                             {"mapa.u64", op_mapa_uint64_t, "u64 u64 u32"},
                                             {"getctarank.u32", op_rank_uint32_t, "u32 u32"},
                                             {"getctarank.u64", op_rank_uint64_t, "u32 u64"},
                                             {NULL, NULL, NULL}};
