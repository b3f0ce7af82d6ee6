#include "emulator/timeline/model.h"

#include "trace/gpus.h"

#define GPU(name) MODEL_##name,
enum { GPUS(GPU) MODELS };
#undef GPU

static const struct timeline_model models[MODELS] = {
#define GPU(gpu) [MODEL_##gpu].name = #gpu,
    GPUS(GPU)
#undef GPU
#define PARAMETER(parameter, unit, what, h100, h200, a100, rtx4060, t4)                            \
    [MODEL_h100].parameter = h100, [MODEL_h200].parameter = h200, [MODEL_a100].parameter = a100,   \
    [MODEL_rtx4060].parameter = rtx4060, [MODEL_t4].parameter = t4,
#include "emulator/timeline/model.def"
#undef PARAMETER
};

const struct timeline_model *timeline_model = &models[MODEL_h100];

const struct timeline_model *timeline_model_at(size_t index)
{
    return index < MODELS ? &models[index] : NULL;
}

const char *timeline_model_name(size_t index)
{
    return index < MODELS ? models[index].name : NULL;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

unsigned timeline_resident_blocks(const struct timeline_model *model, uint32_t threads_per_block,
                                  uint32_t shared_bytes, uint32_t registers_per_thread)
{
    const struct timeline_model *m = model;
    unsigned warps = (threads_per_block + 31) / 32;
    if (warps == 0) return 0;
    unsigned blocks = (unsigned)m->resident_blocks;
    unsigned by_warps = (unsigned)m->resident_warps / warps;
    const double shared = shared_bytes + m->shared_reserved;
    if (by_warps < blocks) blocks = by_warps;
    if (shared * blocks > m->shared_bytes) blocks = (unsigned)(m->shared_bytes / shared);
    if (registers_per_thread > 0) {
        /* Registers are allocated to warps in units of 256. */
        unsigned per_warp = (registers_per_thread * 32 + 255) / 256 * 256;
        unsigned by_registers = (unsigned)m->registers / per_warp / warps;
        if (by_registers < blocks) blocks = by_registers;
    }
    return blocks;
}

static unsigned warps_of(const struct timeline_kernel *kernel)
{
    return (kernel->threads_per_block + 31) / 32;
}

/* Returns how many blocks one multiprocessor holds at a time when the grid is large enough. */
static double blocks_at_once(const struct timeline_kernel *kernel)
{
    const unsigned most =
        timeline_resident_blocks(timeline_model, kernel->threads_per_block, kernel->shared_bytes,
                                 kernel->registers_per_thread);
    return larger(1, most);
}

uint32_t timeline_reach(const struct timeline_kernel *kernel)
{
    const struct timeline_model *m = timeline_model;
    const uint64_t each =
        (kernel->blocks + (uint64_t)m->multiprocessors - 1) / (uint64_t)m->multiprocessors;
    const double blocks = smaller(blocks_at_once(kernel), (double)each);
    const double shared = kernel->shared_bytes > 0 ? kernel->shared_bytes + m->shared_reserved : 0;
    const double bytes = m->first_level - blocks * shared, warps = blocks * warps_of(kernel);
    return bytes > 0 && warps > 0 ? (uint32_t)(bytes * m->first_level_sure / 128 / warps) : 0;
}

/* How a kernel's blocks lie on the multiprocessors. */
struct spread {
    double used;     /* multiprocessors that have blocks */
    double beside;   /* blocks side by side on each of them */
    double resident; /* blocks that the whole device holds at a time */
    double rounds;   /* waves of blocks, each as long as the longest warp; at least 1 */
};

static struct spread spread_of(const struct timeline_kernel *kernel)
{
    const struct timeline_model *m = timeline_model;
    const double blocks = (double)kernel->blocks, most = blocks_at_once(kernel);
    const double warps = blocks * warps_of(kernel);
    struct spread spread = {.used = smaller(m->multiprocessors, blocks),
                            .resident = most * m->multiprocessors};
    double waves = (double)((uint64_t)(blocks / spread.resident));
    if (waves * spread.resident < blocks) waves++;
    const double share =
        kernel->longest_warp > 0 && warps > 0
            ? (double)kernel->warp_instructions / warps / (double)kernel->longest_warp
            : 0; /* of the longest warp's instructions, those of an average warp */
    spread.beside = larger(1, smaller(most, blocks / larger(1, spread.used)));
    spread.rounds = larger(1, waves * share);
    return spread;
}

/* Returns the ns along the longest chain of dependent instructions, accesses and barriers of one
 * warp. An access takes `latency` cycles unless the first-level cache has its data. The accesses of
 * a multiprocessor also pass one after another; blocks side by side overlap each other's waits. */
static inline double chain_ns(const struct timeline_kernel *kernel, const struct spread *spread,
                              double latency)
{
    const struct timeline_model *m = timeline_model;
    const double waits =
        (double)(kernel->longest_chain - kernel->short_chain) * latency +
        (double)kernel->barriers * (m->barrier + warps_of(kernel) * m->barrier_warp);
    const double own = (double)kernel->longest_warp * m->dependent_issue +
                       (double)kernel->short_chain * m->first_level_latency + waits;
    const double passing = (double)kernel->wavefronts / larger(1, spread->used) * m->wavefront +
                           waits * spread->rounds / spread->beside;

    return (larger(own * spread->rounds, passing) + (double)kernel->longest_wait) / m->clock;
}

struct timeline_cost timeline_kernel_cost(const struct timeline_kernel *kernel)
{
    const struct timeline_model *m = timeline_model;
    const struct spread spread = spread_of(kernel);
    double used = spread.used;
    double bytes = 32.0 * (double)(kernel->sectors - kernel->found);
    /* All instructions pass the schedulers of the multiprocessors that have blocks. */
    double slots = m->issue_slots * m->clock;
    double issue = (double)kernel->warp_instructions / (slots * used + (used == 0));
    /* All bytes pass device memory, and the cache ports of those multiprocessors. */
    double memory = bytes / m->memory_bandwidth;
    double ports = bytes / (m->multiprocessor_bandwidth * m->clock * larger(1, used));
    double bound = larger(issue, ports);

    struct timeline_cost cost = {0};
    cost.duration_ns = m->kernel_fixed +
                       larger(larger(chain_ns(kernel, &spread, m->memory_latency), bound), memory);
    bound = larger(bound, bytes / m->cache_bandwidth);
    cost.cached_ns = m->kernel_fixed + larger(chain_ns(kernel, &spread, m->cache_latency), bound);
    cost.used_ns =
        m->kernel_fixed + larger(chain_ns(kernel, &spread, m->cache_used_latency), bound);
    cost.touched = bytes;
    cost.issue =
        (double)kernel->warp_instructions / (slots * m->multiprocessors) / cost.duration_ns;
    cost.traffic = memory / cost.duration_ns;
    cost.room = smaller(1, (double)kernel->blocks / spread.resident);
    return cost;
}

uint64_t timeline_staging_time(uint64_t bytes)
{
    return (uint64_t)((double)bytes / timeline_model->copy_pageable);
}

double timeline_host_time(enum timeline_kind kind)
{
    const struct timeline_model *m = timeline_model;
    const double times[TIMELINE_KIND_COUNT] = {
        [TIMELINE_KERNEL] = m->launch,        [TIMELINE_STAMP] = m->record,
        [TIMELINE_SET] = m->submit,           [TIMELINE_COPY_IN] = m->submit,
        [TIMELINE_COPY_OUT] = m->submit,      [TIMELINE_COPY_INSIDE] = m->submit,
        [TIMELINE_HOST_FUNCTION] = m->submit,
    };
    return times[kind];
}

struct timeline_cost timeline_transfer_cost(enum timeline_kind kind, uint64_t bytes, bool pageable)
{
    const struct timeline_model *m = timeline_model;
    /* fixed in ns; rate in bytes per ns, 0: the fixed time is all; share of memory bandwidth */
    const struct {
        double fixed, rate, traffic;
    } rows[TIMELINE_KIND_COUNT] = {
        [TIMELINE_COPY_IN] = {m->copy_fixed_in, pageable ? m->copy_pageable : m->copy_in, 0},
        [TIMELINE_COPY_OUT] = {m->copy_fixed_out, pageable ? m->copy_pageable_out : m->copy_out, 0},
        [TIMELINE_COPY_INSIDE] = {m->copy_fixed_out, m->copy_inside, 1},
        [TIMELINE_COPY_HOST] = {0, m->copy_host, 0},
        [TIMELINE_SET] = {m->kernel_fixed, m->set, 1},
        [TIMELINE_HOST_FUNCTION] = {m->host_function, 0, 0},
    };
    struct timeline_cost cost = {.duration_ns = rows[kind].fixed, .traffic = rows[kind].traffic};
    if (rows[kind].rate > 0) cost.duration_ns += (double)bytes / rows[kind].rate;
    return cost;
}
