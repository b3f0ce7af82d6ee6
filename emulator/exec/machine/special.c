/* Special registers that do not change while a block runs, and launch parameters: both are constant
 * slots of a frame. PTX ISA, "Special Registers"; the clocks are in ops/special.c.
 */
#include "emulator/exec/machine/private.h"
#include "emulator/ptx/ptx.h"

#include <string.h>

/* Of an H200: multiprocessors, and warps of one; SHARED_UNIT: in which a block gets shared memory.
 */
enum { MULTIPROCESSORS = 132, MULTIPROCESSOR_WARPS = 64, SHARED_UNIT = 128 };

bool exec_special_reserved(unsigned special)
{
    switch (special) {
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_BEGIN:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_END:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_0:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_1:
        return true;
    default:
        return false;
    }
}

bool exec_special_changes(unsigned special)
{
    switch (special) {
    case PTX_SPECIAL_CTAID:
    case PTX_SPECIAL_CLUSTERID:
    case PTX_SPECIAL_CLUSTER_CTAID:
    case PTX_SPECIAL_CLUSTER_CTARANK:
    case PTX_SPECIAL_SMID:
        return true;
    default:
        return false;
    }
}

/* Returns the blocks of a cluster along an axis. */
static uint32_t cluster_size(const struct exec_launch *launch, unsigned axis)
{
    return launch->cluster[axis] > 0 ? launch->cluster[axis] : 1;
}

/* Returns the value of a special register that describes clusters. */
static uint64_t cluster_value(const struct exec_warp *warp, unsigned special, unsigned component)
{
    const struct exec_launch *launch = warp->worker->launch;
    if (special == PTX_SPECIAL_IS_EXPLICIT_CLUSTER) return launch->cluster[0] > 0;
    if (special == PTX_SPECIAL_CLUSTER_CTARANK) return warp->block->rank;
    if (special == PTX_SPECIAL_CLUSTER_NCTARANK)
        return (uint64_t)cluster_size(launch, 0) * cluster_size(launch, 1) *
               cluster_size(launch, 2);
    if (component >= 3) return 0;
    const uint32_t size = cluster_size(launch, component);
    switch (special) {
    case PTX_SPECIAL_CLUSTERID:
        return warp->block->position[component] / size;
    case PTX_SPECIAL_NCLUSTERID:
        return launch->grid[component] / size;
    case PTX_SPECIAL_CLUSTER_CTAID:
        return warp->block->position[component] % size;
    default:
        return size;
    }
}

static uint64_t uniform_value(const struct exec_warp *warp, unsigned special, unsigned component)
{
    const struct exec_worker *worker = warp->worker;
    const struct exec_launch *launch = worker->launch;
    const bool axis = component < 3;
    const uint64_t workspace = launch->cooperative ? EXEC_WINDOW_GRID : 0;
    switch (special) {
    case PTX_SPECIAL_NTID:
        return axis ? launch->block[component] : 0;
    case PTX_SPECIAL_CTAID:
        return axis ? warp->block->position[component] : 0;
    case PTX_SPECIAL_NCTAID:
        return axis ? launch->grid[component] : 0;
    case PTX_SPECIAL_CLUSTERID:
    case PTX_SPECIAL_NCLUSTERID:
    case PTX_SPECIAL_CLUSTER_CTAID:
    case PTX_SPECIAL_CLUSTER_NCTAID:
    case PTX_SPECIAL_CLUSTER_CTARANK:
    case PTX_SPECIAL_CLUSTER_NCTARANK:
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return cluster_value(warp, special, component);
    case PTX_SPECIAL_WARPID:
        return warp->index;
    case PTX_SPECIAL_NWARPID:
        return MULTIPROCESSOR_WARPS;
    case PTX_SPECIAL_SMID:
        return warp->block->index % MULTIPROCESSORS;
    case PTX_SPECIAL_NSMID:
        return MULTIPROCESSORS;
    case PTX_SPECIAL_GRIDID:
        return launch->grid_id;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_shared;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
        return (worker->user_shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    case PTX_SPECIAL_AGGR_SMEM_SIZE:
        return worker->user_shared + EXEC_RESERVED_SHARED;
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_BEGIN:
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_0:
        return EXEC_RESERVED_FIRST(worker->user_shared);
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_1:
        return EXEC_RESERVED_FIRST(worker->user_shared) + EXEC_RESERVED_SHARED / 2;
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_END:
        return EXEC_RESERVED_FIRST(worker->user_shared) + EXEC_RESERVED_SHARED;
    case PTX_SPECIAL_RESERVED_SMEM_OFFSET_CAP:
        return EXEC_RESERVED_SHARED;
    case PTX_SPECIAL_ENVREG:
        /* Cooperative groups read the address of the grid's workspace from envreg 1 (high half) and
         * 2 (low half). */
        return component == 1 ? workspace >> 32 : component == 2 ? (uint32_t)workspace : 0;
    default:
        return 0;
    }
}

static uint64_t lane_value(const struct exec_warp *warp, unsigned special, unsigned component,
                           unsigned lane)
{
    const uint32_t *block = warp->worker->launch->block;
    const uint32_t thread = warp->index * EXEC_LANES + lane;
    const uint32_t bit = 1u << lane;
    switch (special) {
    case PTX_SPECIAL_TID:
        switch (component) {
        case 0:
            return thread % block[0];
        case 1:
            return thread / block[0] % block[1];
        case 2:
            return thread / block[0] / block[1];
        default:
            return 0;
        }
    case PTX_SPECIAL_LANEID:
        return lane;
    case PTX_SPECIAL_LANEMASK_EQ:
        return bit;
    case PTX_SPECIAL_LANEMASK_LT:
        return bit - 1;
    case PTX_SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case PTX_SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case PTX_SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    default:
        return uniform_value(warp, special, component);
    }
}

static bool differs_by_lane(unsigned special)
{
    switch (special) {
    case PTX_SPECIAL_TID:
    case PTX_SPECIAL_LANEID:
    case PTX_SPECIAL_LANEMASK_EQ:
    case PTX_SPECIAL_LANEMASK_LT:
    case PTX_SPECIAL_LANEMASK_LE:
    case PTX_SPECIAL_LANEMASK_GT:
    case PTX_SPECIAL_LANEMASK_GE:
        return true;
    default:
        return false;
    }
}

void exec_special_fill(const struct exec_warp *warp, unsigned special, unsigned component,
                       unsigned char *slot, uint32_t width)
{
    const bool differs = differs_by_lane(special);
    const uint64_t same = differs ? 0 : uniform_value(warp, special, component);
    uint64_t *wide = (uint64_t *)(void *)slot;
    uint32_t *narrow = (uint32_t *)(void *)slot;
    if (width == 8)
        for (unsigned l = 0; l < EXEC_LANES; l++) wide[l] = same;
    else
        for (unsigned l = 0; l < EXEC_LANES; l++) narrow[l] = (uint32_t)same;
    for (unsigned l = 0; differs && l < EXEC_LANES; l++) {
        const uint64_t value = lane_value(warp, special, component, l);
        if (width == 8)
            wide[l] = value;
        else
            narrow[l] = (uint32_t)value;
    }
}

uint64_t exec_parameter_value(const struct exec_launch *launch,
                              const struct exec_constant *constant)
{
    const unsigned char *bytes = (const unsigned char *)launch->parameters + constant->value;
    const bool is_signed = constant->index < 0;
    uint64_t value = 0;
    const unsigned size = (unsigned)(is_signed ? -constant->index : constant->index);
    memcpy(&value, bytes, size);
    if (is_signed && size < 8) {
        const unsigned shift = 64 - 8 * size;
        value = (uint64_t)((int64_t)(value << shift) >> shift);
    }
    return value;
}
