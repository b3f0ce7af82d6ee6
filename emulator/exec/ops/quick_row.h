/* Fast paths of some lanes' loads and stores in shared memory, one element each, where the warp's
 * addresses are a row: all elements are accessed at once, and those of the other lanes are left as
 * they are. The other lanes' elements may lie behind the end of shared memory, where there is room
 * for them (EXEC_SHARED_ROOM); no other thread of the host accesses the block's shared memory.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_ROW_H
#define OVERLAP_EXEC_OPS_QUICK_ROW_H

#include "emulator/exec/ops/quick_watch.h"

/* Returns the element of lane 0; NULL: the addresses are no row, or a lane's is not allowed. */
INLINE unsigned char *row_of_shared(const struct exec_quick *quick, const struct exec_inst *inst,
                                    u32 bytes)
{
    const warp_u32 lanes = {LOW_LANES, HIGH_LANES};
    const warp_u32 base = *(const warp_u32 *)(const void *)(quick->slots + inst->a);
    const u32 first = quick->stepped ? (u32)quick->low : base[0], at = first + (u32)inst->imm;
    const u32 lane = 31 - (u32)__builtin_clz(quick->mask), size = quick->shared_bytes;
    if (quick->stepped ? !quick->whole | (quick->step != bytes)
                       : __builtin_reduce_max((warp_u32)(base != first + lanes * bytes)) != 0)
        return NULL;
    if (((at & (bytes - 1)) != 0) | (at > size) | (at + (lane + 1) * bytes > size) |
        (at + EXEC_LANES * bytes > size + EXEC_SHARED_ROOM))
        return NULL;
    return quick->shared + at;
}

/* -1 in the lanes of the mask, else 0. */
INLINE warp_s32 row_mask(u32 mask)
{
    const warp_u32 bits = {LOW_BITS, HIGH_BITS};
    return (warp_s32)(((warp_u32){0} + mask & bits) == bits);
}

/* For elements of type T; S and L are signed types as wide as T and as a lane of its slot. */
#define DEFINE_SHARED_ROW(T, S, L)                                                                 \
    INLINE bool row_load_shared_##T(const struct exec_quick *quick, const struct exec_inst *inst)  \
    {                                                                                              \
        const unsigned char *place = row_of_shared(quick, inst, sizeof(T));                        \
        if (place == NULL) return false;                                                           \
        lanes_##T *d = (lanes_##T *)(void *)(quick->slots + inst->d);                              \
        const lanes_##T here =                                                                     \
            (lanes_##T) __builtin_convertvector(row_mask(quick->mask), warp_##L);                  \
        const lanes_##T all =                                                                      \
            __builtin_convertvector(*(const warp_##T *)(const void *)place, lanes_##T);            \
        *d = (*d & ~here) | (all & here);                                                          \
        return true;                                                                               \
    }                                                                                              \
    INLINE bool row_store_shared_##T(const struct exec_quick *quick, const struct exec_inst *inst) \
    {                                                                                              \
        unsigned char *place = row_of_shared(quick, inst, sizeof(T));                              \
        if (place == NULL) return false;                                                           \
        const warp_##T here = (warp_##T) __builtin_convertvector(row_mask(quick->mask), warp_##S); \
        const warp_##T all = __builtin_convertvector(                                              \
            *(const lanes_##T *)(const void *)(quick->slots + inst->d), warp_##T);                 \
        warp_##T *to = (warp_##T *)(void *)place;                                                  \
        *to = (*to & ~here) | (all & here);                                                        \
        return true;                                                                               \
    }
DEFINE_SHARED_ROW(u8, s8, s32)
DEFINE_SHARED_ROW(s8, s8, s32)
DEFINE_SHARED_ROW(u16, s16, s32)
DEFINE_SHARED_ROW(s16, s16, s32)
DEFINE_SHARED_ROW(u32, s32, s32)
DEFINE_SHARED_ROW(u64, s64, s64)

/* No rows are looked for in global memory. */
#define DEFINE_GLOBAL_ROW(T)                                                                       \
    INLINE bool row_load_global_##T(const struct exec_quick *quick, const struct exec_inst *inst)  \
    {                                                                                              \
        (void)quick, (void)inst;                                                                   \
        return false;                                                                              \
    }                                                                                              \
    INLINE bool row_store_global_##T(const struct exec_quick *quick, const struct exec_inst *inst) \
    {                                                                                              \
        (void)quick, (void)inst;                                                                   \
        return false;                                                                              \
    }
DEFINE_GLOBAL_ROW(u8)
DEFINE_GLOBAL_ROW(s8)
DEFINE_GLOBAL_ROW(u16)
DEFINE_GLOBAL_ROW(s16)
DEFINE_GLOBAL_ROW(u32)
DEFINE_GLOBAL_ROW(u64)

#endif
