/* The data flow of each instruction of a function, from slots to slots, for check/poison.h. Rows
 * are recognised by their handlers; the flow of any other instruction is EXEC_FLOW_UNKNOWN. */
#include "emulator/base/hash.h"
#include "emulator/exec/check/order.h"
#include "emulator/exec/check/products.h"
#include "emulator/exec/check/proxy.h"
#include "emulator/exec/lower/program.h"
#include "emulator/exec/ops/ops.h"

#include <pthread.h>
#include <string.h>

enum { BUCKETS = 8192, MOST_WORDS = 5 };

static struct {
    pthread_once_t once;
    struct {
        exec_handler *run;
        uint8_t flow;
    } entries[BUCKETS];
} flows = {.once = PTHREAD_ONCE_INIT};

static size_t place_of(exec_handler *run)
{
    size_t k = (size_t)(hash_spread((uint64_t)(uintptr_t)run) >> 32) % BUCKETS;
    while (flows.entries[k].run != NULL && flows.entries[k].run != run) k = (k + 1) % BUCKETS;
    return k;
}

static bool begins(const char *text, const char *with)
{
    return *text == *with && strncmp(text, with, strlen(with)) == 0;
}

/* Rows whose flow does not follow from their shape, by the beginnings of their keys. */
static const struct other {
    const char *begin;
    uint8_t flow;
} others[] = {
    {"ld.", EXEC_FLOW_LOAD},
    {"st.shared", EXEC_FLOW_STORE_SHARED},
    {"st.local", EXEC_FLOW_NONE},
    {"st.", EXEC_FLOW_STORE},
    {"atom.cas", EXEC_FLOW_ATOMIC | 3},
    {"atom.", EXEC_FLOW_ATOMIC | 2},
    {"mov.", EXEC_FLOW_MOVE},
    {"widen.", EXEC_FLOW_MOVE},
    {"or.b", EXEC_FLOW_MOVE},
    {"shl.", EXEC_FLOW_MOVE},
    {"shr.", EXEC_FLOW_MOVE},
    {"shf.", EXEC_FLOW_MOVE},
    {"prmt.", EXEC_FLOW_MOVE},
    {"bfe.", EXEC_FLOW_MOVE},
    {"bfi.", EXEC_FLOW_MOVE},
    {"cvt.", EXEC_FLOW_MOVE},
    {"and.b32", EXEC_FLOW_AND},
    {"and.pred", EXEC_FLOW_AND_PREDICATES},
    {"or.pred", EXEC_FLOW_OR_PREDICATES},
    {"poll.", EXEC_FLOW_NONE},
    {"nop", EXEC_FLOW_NONE},
    {"watch", EXEC_FLOW_NONE},
    {"order", EXEC_FLOW_NONE},
    {"aligned", EXEC_FLOW_NONE},
    {"bra", EXEC_FLOW_NONE},
    {"exit", EXEC_FLOW_NONE},
    {"matrix.together", EXEC_FLOW_NONE},
};

static uint8_t flow_of_other(const struct other *other, const char *keys)
{
    const uint8_t flow = other->flow;
    if (flow != EXEC_FLOW_LOAD && flow != EXEC_FLOW_STORE && flow != EXEC_FLOW_STORE_SHARED)
        return flow;
    return (uint8_t)(flow | (strstr(keys, ".v4") ? 4u : strstr(keys, ".v2") ? 2u : 1u));
}

/* A conversion between floats, or from or to a float, computes; other conversions move bits. */
static bool is_move(const struct exec_row *row)
{
    return !begins(row->keys, "cvt.") ||
           (strstr(row->keys, ".f") == NULL && strstr(row->keys, ".bf") == NULL);
}

static uint8_t flow_of_row(const struct exec_row *row)
{
    const char *last = row->shape;
    uint32_t words = 0;
    bool moves = false;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        if (!begins(row->keys, others[k].begin)) continue;
        moves = others[k].flow == EXEC_FLOW_MOVE && is_move(row);
        if (others[k].flow != EXEC_FLOW_MOVE) return flow_of_other(&others[k], row->keys);
    }
    for (const char *at = row->shape; *at != '\0'; words++) {
        last = at;
        at = exec_shape_next(at);
    }
    if (words < 2 || words > MOST_WORDS || begins(last, "cc")) return EXEC_FLOW_UNKNOWN;
    const bool to_predicate = row->shape[0] == 'p', by_predicate = last[0] == 'p';
    if (to_predicate && !by_predicate && words == 3) return EXEC_FLOW_COMPARE | 2;
    if (!to_predicate && by_predicate) return words == 4 ? EXEC_FLOW_SELECT : EXEC_FLOW_UNKNOWN;
    return (uint8_t)((moves ? EXEC_FLOW_MOVE : EXEC_FLOW_COMPUTE) | (words - 1));
}

static void add_row(void *user, const struct exec_row *row)
{
    (void)user;
    const size_t k = place_of(row->run);
    flows.entries[k].flow = flow_of_row(row);
    flows.entries[k].run = row->run;
}

static void build(void)
{
    exec_row_each(add_row, NULL);
}

static uint8_t flow_of(const struct exec_inst *inst)
{
    static exec_handler *const asides[] = {
        exec_branch_guarded,  exec_branch_round,    exec_branch_round_guarded, exec_barrier_sync,
        exec_barrier_arrive,  exec_order_fence,     exec_causality_fence,      exec_proxy_fence,
        exec_async_commit,    exec_async_wait,      exec_async_bulk_commit,    exec_async_bulk_wait,
        exec_proxy_map_fence, exec_products_commit, exec_products_wait};
    const bool wrapped = inst->run == exec_guarded || inst->run == exec_rounded;
    exec_handler *run = wrapped ? inst->inner : inst->run;
    for (size_t k = 0; k < sizeof asides / sizeof *asides; k++)
        if (run == asides[k]) return EXEC_FLOW_NONE;
    /* A shuffle's result is followed when it is there; a barrier of the warp has none. */
    if (run == exec_row_find("sync")->run && inst->inner != NULL) {
        static const struct {
            const char *row;
            enum exec_flow flow;
        } own[] = {
            {"shfl.sync.up.b32", EXEC_FLOW_SHUFFLE},   {"shfl.sync.down.b32", EXEC_FLOW_SHUFFLE},
            {"shfl.sync.bfly.b32", EXEC_FLOW_SHUFFLE}, {"shfl.sync.idx.b32", EXEC_FLOW_SHUFFLE},
            {"bar.warp.sync", EXEC_FLOW_NONE},         {"matrix.sync", EXEC_FLOW_NONE}};
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (inst->inner == exec_row_find(own[k].row)->run) return (uint8_t)own[k].flow;
        return EXEC_FLOW_COMPARE; /* of what its lanes have in common */
    }
    const size_t place = place_of(run);
    return flows.entries[place].run == run ? flows.entries[place].flow : EXEC_FLOW_UNKNOWN;
}

void lower_flow(struct lower *lower)
{
    struct exec_function *function = lower->function;
    const struct ptx_function *source = lower->source;
    exec_handler *const watch = exec_row_find("watch")->run;
    bool wanted = false;
    for (uint32_t k = 0; k < source->instruction_count && !wanted; k++)
        wanted = source->instructions[k].op == PTX_OP_SHFL_SYNC;
    for (size_t k = 0; k < function->code_count && !wanted; k++)
        wanted = function->code[k].run == watch;
    if (!wanted || !lower->program->watched) return;
    pthread_once(&flows.once, build);
    uint8_t *flow = arena_take(&lower->program->arena, function->code_count, sizeof *flow);
    if (flow == NULL) return; /* without it, no flow is followed */
    for (size_t k = 0; k < function->code_count; k++) flow[k] = flow_of(&function->code[k]);
    function->flow = flow;
}
