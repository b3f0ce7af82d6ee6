/* The clocks, nanosleep, and tests of an address's state space. PTX ISA, "Special Registers";
 * machine/special.c has the registers that do not change while a block runs.
 *
 * The clocks count what the warp executed, a fixed number of cycles per instruction, so that they
 * are the same in every run. Each read in a loop that polls the clock advances it by a growing
 * step, which counts as waiting (exec_counts).
 */
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/tables.h"

enum { CYCLES_PER_INSTRUCTION = 4 };

/* ---- clocks ---------------------------------------------------------------------------------- */

/* In a block that seems to wait for ever (stall.watched) the steps grow until EXEC_EVER cycles have
 * passed. They grow slowly, so that the clock does not skip a bound that the program waits for,
 * even one of a 32-bit counter. */
static void take_step(struct exec_warp *warp, const struct exec_inst *inst)
{
    enum { FIRST_STEP = 16, LAST_STEP = 1 << 20, PART = 8 };
    if (warp->block->stall.watched) {
        if (!warp->until) warp->until = warp->waited + EXEC_EVER;
        if (warp->waited < warp->until) warp->clock_step += warp->clock_step / PART + 1;
    } else if (warp->clock_inst != inst) {
        warp->clock_step = FIRST_STEP;
    } else {
        warp->clock_step = warp->clock_step < LAST_STEP ? 2 * warp->clock_step : LAST_STEP;
    }
    warp->clock_inst = inst;
}

static uint64_t cycles(struct exec_warp *warp, const struct exec_inst *inst)
{
    take_step(warp, inst);
    warp->waited += warp->clock_step;
    warp->yield = true;
    return warp->instructions * CYCLES_PER_INSTRUCTION + warp->waited;
}

#define DEFINE_CLOCK(name, T, expression)                                                          \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        T *d = exec_slot(warp, inst->d);                                                           \
        const uint64_t now = cycles(warp, inst);                                                   \
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1)                                   \
            d[__builtin_ctz(rest)] = (T)(expression);                                              \
        return EXEC_GO;                                                                            \
    }
/* The timer starts at one second; a cycle takes two thirds of a nanosecond. */
#define TIMER (UINT64_C(1000000000) + now * 2 / 3)
DEFINE_CLOCK(clock, uint32_t, now)
DEFINE_CLOCK(clock_hi, uint32_t, now >> 32)
DEFINE_CLOCK(clock64, uint64_t, now)
DEFINE_CLOCK(globaltimer, uint64_t, TIMER)
DEFINE_CLOCK(globaltimer_lo, uint32_t, TIMER)
DEFINE_CLOCK(globaltimer_hi, uint32_t, TIMER >> 32)

/* nanosleep: yields to other threads. */
static int op_nanosleep(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t *a = exec_slot(warp, inst->a);
    warp->waited += a[__builtin_ctz(warp->mask)];
    warp->yield = true;
    warp->backward = 0;
    return EXEC_RESCHEDULE;
}

/* ---- an address's state space (9.7.9.19 to 9.7.9.23) ----------------------------------------- */

#define DEFINE_SPACE(name, test)                                                                   \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        const uint64_t *a = exec_slot(warp, inst->a);                                              \
        uint32_t *d = exec_slot(warp, inst->d);                                                    \
        uint32_t inside = 0;                                                                       \
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {                                 \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            inside |= (uint32_t)(test) << l;                                                       \
        }                                                                                          \
        *d = (*d & ~warp->mask) | inside;                                                          \
        return EXEC_GO;                                                                            \
    }

static bool is_constant(uint64_t address)
{
    const struct memory_region *region = memory_find(address);
    return region != NULL && region->constant;
}

/* imm: the space's window. */
DEFINE_SPACE(window, (a[l] & EXEC_WINDOW_MASK) == inst->imm)
DEFINE_SPACE(global, (a[l] & EXEC_WINDOW_MASK) != EXEC_WINDOW_SHARED &&
                         (a[l] & EXEC_WINDOW_MASK) != EXEC_WINDOW_LOCAL && !is_constant(a[l]))
DEFINE_SPACE(shared, (a[l] & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED &&
                         exec_cluster_home(warp->block, a[l] & ~EXEC_WINDOW_MASK) == warp->block)
DEFINE_SPACE(constant, is_constant(a[l]))

const struct exec_row exec_special_rows[] = {{"isspacep.window", op_window, ""},
                                             {"isspacep.shared", op_shared, ""},
                                             {"isspacep.global", op_global, ""},
                                             {"isspacep.const", op_constant, ""},
                                             {"%clock", op_clock, "u32"},
                                             {"%clock_hi", op_clock_hi, "u32"},
                                             {"%clock64", op_clock64, "u64"},
                                             {"%globaltimer", op_globaltimer, "u64"},
                                             {"%globaltimer_lo", op_globaltimer_lo, "u32"},
                                             {"%globaltimer_hi", op_globaltimer_hi, "u32"},
                                             {"nanosleep.u32", op_nanosleep, ""},
                                             {NULL, NULL, NULL}};
