/* What lowering adds to a watched program: see check/shadow.h and check/grid_shadow.h. */
#include "emulator/exec/check/order.h"
#include "emulator/exec/check/products.h"
#include "emulator/exec/lower/access.h"

#include <stdlib.h>
#include <string.h>

static bool is_place(const struct lower_place *place, const char *where)
{
    return place->where != NULL && !strcmp(place->where, where);
}

static bool is_volatile_shared(const struct ptx_instruction *at)
{
    return at->modifiers.semantics == PTX_SEM_VOLATILE &&
           (at->modifiers.space == PTX_SPACE_SHARED || at->modifiers.space == PTX_SPACE_SHARED_CTA);
}

/* Emits the row "watch" for an access. Returns NULL when the program is not watched or the access
 * cannot be to shared memory. */
static struct exec_inst *watch(struct lower *lower, const struct lower_place *place,
                               uint32_t element, uint32_t count, enum exec_access access)
{
    const bool generic = is_place(place, "generic"), wide = generic || is_place(place, "shared64");
    if (!lower->program->watched || (!wide && !is_place(place, "shared"))) return NULL;
    struct exec_inst *inst = lower_emit_aside(lower, exec_row_find("watch")->run);
    inst->a = place->slot;
    inst->imm = place->offset;
    inst->cache = element | count << EXEC_WATCH_COUNT_SHIFT |
                  (uint32_t)access << EXEC_WATCH_ACCESS_SHIFT | (wide ? EXEC_WATCH_WIDE : 0u) |
                  (generic ? EXEC_WATCH_GENERIC : 0u);
    return inst;
}

void lower_racecheck(struct lower *lower, const struct lower_place *place, uint32_t element,
                     uint32_t count, enum exec_access access, const uint32_t slots[4])
{
    struct exec_inst *inst = watch(lower, place, element, count, access);
    const uint16_t operation = lower->at->modifiers.operation;
    if (inst != NULL && access == EXEC_ATOMIC &&
        (operation == PTX_ATOMIC_EXCH || operation == PTX_ATOMIC_AND)) /* and: may be x & 0 */
        inst->cache |= EXEC_WATCH_EXCHANGES;
    if (inst == NULL || slots == NULL) return;
    if (access == EXEC_ATOMIC) {
        inst->cache |= EXEC_WATCH_SWAPS;
        inst->d = slots[0];
        inst->b = slots[1];
        return;
    }
    if (access == EXEC_STORE && (lower_updates(lower) & EXEC_LOOK_COUNTS) != 0)
        inst->cache |= EXEC_WATCH_COUNTS;
    inst->cache |= EXEC_WATCH_VALUES;
    inst->d = slots[0];
    inst->b = slots[1];
    inst->c = slots[2];
    inst->e = slots[3];
}

void lower_racecheck_look(struct lower *lower, const struct lower_place *place, uint32_t element,
                          uint32_t count)
{
    struct exec_inst *inst = watch(lower, place, element, count, EXEC_LOAD);
    if (inst != NULL) inst->cache |= EXEC_WATCH_LOOKS;
}

void lower_racecheck_copy(struct lower *lower, const struct lower_place *place, uint32_t bytes)
{
    struct exec_inst *inst = watch(lower, place, bytes, 1, EXEC_STORE);
    if (inst != NULL) inst->cache |= EXEC_WATCH_COPY;
}

void lower_racecheck_groups(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    if (!lower->program->watched) return;
    static const struct {
        enum ptx_opcode op;
        bool counts; /* an operand says how many groups it leaves pending */
        exec_handler *run;
    } rows[] = {{PTX_OP_CP_ASYNC_COMMIT, false, exec_async_commit},
                {PTX_OP_CP_ASYNC_WAIT, true, exec_async_wait},
                {PTX_OP_CP_ASYNC_WAIT_ALL, false, exec_async_wait},
                {PTX_OP_CP_BULK_COMMIT, false, exec_async_bulk_commit},
                {PTX_OP_CP_BULK_WAIT, true, exec_async_bulk_wait},
                {PTX_OP_WGMMA_COMMIT, false, exec_products_commit},
                {PTX_OP_WGMMA_WAIT, true, exec_products_wait}};
    size_t k = 0;
    while (rows[k].op != at->op) k++;
    lower_emit_aside(lower, rows[k].run)->imm =
        rows[k].counts ? at->operands[0].bits : EXEC_ASYNC_ALL;
}

/* ---- communication between threads ----------------------------------------------------------- */

static bool is_strong(const struct ptx_instruction *at)
{
    return at->modifiers.semantics != PTX_ABSENT && at->modifiers.semantics != PTX_SEM_WEAK;
}

bool lower_is_strong(const struct lower *lower, const struct ptx_instruction *at)
{
    return is_strong(at) && !(lower->volatile_is_plain && is_volatile_shared(at));
}

bool lower_acquires(const struct ptx_instruction *at)
{
    const uint16_t semantics = at->modifiers.semantics;
    return semantics == PTX_SEM_ACQUIRE || semantics == PTX_SEM_ACQ_REL;
}

bool lower_releases(const struct ptx_instruction *at)
{
    const uint16_t semantics = at->modifiers.semantics;
    return semantics == PTX_SEM_RELEASE || semantics == PTX_SEM_ACQ_REL;
}

/* A fence, a strong access, or an atomic with which locks are taken or released. */
static bool converses(const struct ptx_instruction *at)
{
    const uint16_t operation = at->modifiers.operation;
    switch (at->op) {
    case PTX_OP_FENCE:
    case PTX_OP_MEMBAR:
        return true;
    case PTX_OP_LD:
    case PTX_OP_ST:
        return is_strong(at);
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return operation == PTX_ATOMIC_CAS || operation == PTX_ATOMIC_EXCH ||
               (is_strong(at) && at->modifiers.semantics != PTX_SEM_RELAXED);
    default:
        return false;
    }
}

static bool orders_block(enum ptx_opcode op)
{
    return op == PTX_OP_BAR_SYNC || op == PTX_OP_BARRIER_SYNC || op == PTX_OP_BAR_RED ||
           op == PTX_OP_BARRIER_RED;
}

/* Returns whether what the instruction leads to is not in sight. */
static bool hides(const struct ptx_instruction *at)
{
    return at->op == PTX_OP_CALL || at->op == PTX_OP_BRX_IDX;
}

/* Returns whether the instruction is an atomic that may be on shared memory. */
static bool is_atomic_nearby(const struct ptx_instruction *at)
{
    return (at->op == PTX_OP_ATOM || at->op == PTX_OP_RED) &&
           at->modifiers.space != PTX_SPACE_GLOBAL;
}

/* Returns whether the instruction could let a thread learn what another one has done, other than by
 * a volatile access to shared memory, or hides such an instruction. */
static bool may_tell(const struct ptx_instruction *at)
{
    return hides(at) || is_atomic_nearby(at) || (converses(at) && !is_volatile_shared(at));
}

/* Returns whether the loop from instruction `begin` to its branch `end` may be a wait: it loads
 * volatile shared memory and meets no barrier of the block. */
static bool may_wait(const struct ptx_function *source, uint32_t begin, uint32_t end)
{
    bool loads = false;
    for (uint32_t k = begin; k <= end; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (orders_block(at->op)) return false;
        loads |= at->op == PTX_OP_LD && is_volatile_shared(at);
    }
    return loads;
}

/* Returns whether no volatile access to shared memory could be one by which threads talk: the
 * function has nothing with which a flag would go. */
static bool lacks_flags(const struct ptx_function *source)
{
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (may_tell(at) || (at->op == PTX_OP_BRA && at->operands[0].target <= k &&
                             may_wait(source, at->operands[0].target, k)))
            return false;
    }
    return true;
}

/* Returns whether volatile shared memory holds data alone: what is loaded from it decides nothing,
 * and there is no lock in shared memory that could guard it. */
static bool holds_data(const struct ptx_function *source)
{
    bool *deciding = lower_deciding(source), data = deciding != NULL;
    for (uint32_t k = 0; k < source->instruction_count && data; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        data = !hides(at) && !is_atomic_nearby(at) &&
               !(at->op == PTX_OP_LD && is_volatile_shared(at) && !lower_brings_data(deciding, at));
    }
    free(deciding);
    return data;
}

bool lower_volatile_is_plain(const struct ptx_function *source)
{
    bool any = false;
    for (uint32_t k = 0; k < source->instruction_count && !any; k++)
        any = is_volatile_shared(&source->instructions[k]);
    return any && (lacks_flags(source) || holds_data(source));
}

bool lower_converses(const struct ptx_function *source)
{
    const bool plain = lower_volatile_is_plain(source);
    bool any = false;
    for (uint32_t i = 0; i < source->instruction_count && !any; i++) {
        const struct ptx_instruction *at = &source->instructions[i];
        any = converses(at) && !(plain && is_volatile_shared(at));
    }
    return any;
}

void lower_note_system(struct lower *lower)
{
    struct exec_function_info *info = &lower->function->info;
    for (uint32_t i = 0; i < lower->source->instruction_count; i++) {
        const struct ptx_instruction *at = &lower->source->instructions[i];
        if (at->modifiers.scope != PTX_SCOPE_SYS) continue;
        info->counts_system |= at->op == PTX_OP_ATOM || at->op == PTX_OP_RED;
        info->orders_system |= at->op == PTX_OP_FENCE || at->op == PTX_OP_MEMBAR ||
                               lower_acquires(at) || lower_releases(at);
    }
}

void lower_order_fence(struct lower *lower)
{
    if (lower->program->watched) lower_emit_aside(lower, exec_order_fence);
}

/* ---- looks and acts -------------------------------------------------------------------------- */

static bool is_act(enum ptx_opcode op)
{
    return op == PTX_OP_ST || op == PTX_OP_RED || op == PTX_OP_ATOM || op == PTX_OP_CALL ||
           orders_block(op);
}

/* Finds the registers that are written once, with the address of a variable; and for each
 * instruction the next act (a store, an atomic, a barrier of the block, or a call that may be one),
 * because most are none. */
static bool find_symbols(struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    uint32_t next = source->instruction_count;
    lower->symbols = calloc(source->register_count + 1u, sizeof *lower->symbols);
    lower->next_act = calloc(source->instruction_count + (size_t)1, sizeof *lower->next_act);
    if (lower->symbols == NULL || lower->next_act == NULL) {
        free(lower->symbols);
        free(lower->next_act);
        lower->symbols = NULL;
        lower->next_act = NULL;
        lower->failed = true;
        return false;
    }
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *inst = &source->instructions[k];
        const struct ptx_operand *operands = inst->operands;
        if (inst->op == PTX_OP_MOV && operands[0].kind == PTX_OPERAND_REGISTER &&
            operands[1].kind == PTX_OPERAND_SYMBOL && operands[1].variable != NULL &&
            lower->written[operands[0].reg] == LOWER_ONCE)
            lower->symbols[operands[0].reg] = &operands[1];
    }
    for (uint32_t k = source->instruction_count; k-- > 0;) {
        lower->next_act[k] = next;
        if (is_act(source->instructions[k].op)) next = k;
    }
    return true;
}

struct address {
    uint32_t reg;
    const struct ptx_variable *variable;
    int64_t offset;
};

static struct address address_of(const struct lower *lower, const struct ptx_operand *operand)
{
    const struct ptx_operand *symbol =
        operand->reg == PTX_NO_REGISTER ? NULL : lower->symbols[operand->reg];
    if (symbol == NULL) return (struct address){operand->reg, operand->variable, operand->offset};
    return (struct address){PTX_NO_REGISTER, symbol->variable, symbol->offset + operand->offset};
}

static bool same_address(const struct lower *lower, const struct address *a,
                         const struct ptx_operand *operand)
{
    if (operand->kind != PTX_OPERAND_ADDRESS) return false;
    const struct address b = address_of(lower, operand);
    return a->reg == b.reg && a->variable == b.variable && a->offset == b.offset;
}

bool lower_same_address(struct lower *lower, const struct ptx_operand *address,
                        const struct ptx_operand *operand)
{
    if (lower->symbols == NULL && !find_symbols(lower)) return false;
    const struct address a = address_of(lower, address);
    return same_address(lower, &a, operand);
}

/* Returns whether the load `at` directly follows the thread's own store to the same bytes: it reads
 * that value and learns nothing. */
static bool reads_own_store(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at, *store = at - 1;
    const size_t index = (size_t)(at - lower->source->instructions);
    if (at->op != PTX_OP_LD || index == 0 || lower->labelled[index] || store->op != PTX_OP_ST ||
        !is_strong(store) || store->guard != PTX_NO_REGISTER || store->type != at->type ||
        ptx_type_bytes(at->type) < 4 || at->operands[0].kind != PTX_OPERAND_REGISTER ||
        store->operands[1].kind == PTX_OPERAND_VECTOR)
        return false;
    return lower_same_address(lower, &store->operands[0], &at->operands[1]);
}

void lower_order(struct lower *lower, const struct lower_place *place, uint32_t bytes,
                 enum exec_access access, uint32_t value)
{
    const struct ptx_instruction *at = lower->at;
    const bool narrow = is_place(place, "shared");
    if (!lower->program->watched || !lower->program->converses ||
        (access != EXEC_ATOMIC && !lower_is_strong(lower, at)) || is_place(place, "local"))
        return;
    if (reads_own_store(lower)) return;
    const bool modifies = access == EXEC_STORE && lower_modifies(lower, &at->operands[0]);
    struct exec_inst *inst = lower_emit_aside(lower, exec_row_find("order")->run);
    inst->a = place->slot;
    inst->b = value;
    inst->imm = place->offset;
    inst->cache = bytes | (uint32_t)access << EXEC_ORDER_ACCESS_SHIFT |
                  (lower_acquires(at) ? EXEC_ORDER_ACQUIRES : 0u) |
                  (lower_releases(at) ? EXEC_ORDER_RELEASES : 0u) |
                  (narrow ? EXEC_ORDER_NARROW : 0u) |
                  (narrow || is_place(place, "shared64") ? EXEC_ORDER_SHARED : 0u) |
                  (modifies ? EXEC_ORDER_MODIFIES : 0u);
}

/* Returns whether some way leads from the instruction `at` to instruction `act`; true when the host
 * has no memory to find out. */
static bool leads_to(struct lower *lower, uint32_t act)
{
    const struct ptx_function *source = lower->source;
    const uint32_t count = source->instruction_count;
    const uint32_t from = (uint32_t)(lower->place - source->instructions);
    if (lower->reached == NULL) lower->reached = calloc(count + (size_t)1, sizeof *lower->reached);
    if (lower->reached == NULL) return true;
    memset(lower->reached, 0, (count + (size_t)1) * sizeof *lower->reached);
    lower_spread(source, from, lower->reached);
    for (bool changed = true; changed && !lower->reached[act];) {
        changed = false;
        for (uint32_t k = 0; k < count; k++)
            if (lower->reached[k]) changed |= lower_spread(source, k, lower->reached);
    }
    return lower->reached[act];
}

/* ---- what a look is for -----------------------------------------------------------------------
 */

/* Returns whether a value that goes into such an instruction is followed into what it makes. */
static bool passes_on(enum ptx_opcode op)
{
    switch (op) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_DIV:
    case PTX_OP_NEG:
    case PTX_OP_ABS:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_LOP3:
    case PTX_OP_LD:
        return true;
    default:
        return false;
    }
}

static bool takes(const struct ptx_operand *operand, const bool *flows)
{
    if (operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_ADDRESS)
        return operand->reg < PTX_SINK && flows[operand->reg];
    for (uint32_t k = 0; operand->kind == PTX_OPERAND_VECTOR && k < operand->count; k++)
        if (takes(&operand->elements[k], flows)) return true;
    return false;
}

/* Adds the registers of a destination; returns whether one is new. */
static bool flow_into(const struct ptx_operand *operand, bool *flows)
{
    bool fresh = false;
    if (operand->kind == PTX_OPERAND_REGISTER) {
        fresh = operand->reg < PTX_SINK && !flows[operand->reg];
        if (fresh) flows[operand->reg] = true;
    }
    for (uint32_t k = 0; operand->kind == PTX_OPERAND_VECTOR && k < operand->count; k++)
        fresh |= flow_into(&operand->elements[k], flows);
    return fresh;
}

/* Cooperative groups' grid.sync() is a barrier of the block, behind which one thread adds to a
 * counter in the grid's workspace, whose address is in %envreg1 and %envreg2, and another barrier.
 * Marks the registers that may hold the address, or a part of it; returns whether there are any. */
static bool find_workspace(const struct ptx_function *source, bool *flows)
{
    bool any = false;
    for (bool fresh = true; fresh; any |= fresh) {
        fresh = false;
        for (uint32_t k = 0; k < source->instruction_count; k++) {
            const struct ptx_instruction *at = &source->instructions[k];
            bool from = false;
            if (at->op == PTX_OP_LD || (!passes_on(at->op) && at->op != PTX_OP_BFI)) continue;
            for (uint8_t o = 1; o < at->operand_count && !from; o++)
                from = (at->operands[o].kind == PTX_OPERAND_SPECIAL &&
                        at->operands[o].special == PTX_SPECIAL_ENVREG) ||
                       takes(&at->operands[o], flows);
            if (from) fresh |= flow_into(&at->operands[0], flows);
        }
    }
    return any;
}

/* Marks what the instruction `from` leads to, no further than to the instructions in `ends`, or,
 * where `ends` is NULL, to barriers of the block. */
static void spread_until(const struct ptx_function *source, uint32_t from, const bool *ends,
                         bool *reached)
{
    lower_spread(source, from, reached);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < source->instruction_count; k++)
            if (reached[k] && !(ends != NULL ? ends[k] : orders_block(source->instructions[k].op)))
                changed |= lower_spread(source, k, reached);
    }
}

static bool adds_to_grid(const struct ptx_instruction *at, const bool *workspace)
{
    return (at->op == PTX_OP_ATOM && takes(&at->operands[1], workspace)) ||
           (at->op == PTX_OP_RED && takes(&at->operands[0], workspace));
}

static bool syncs_grid(const struct ptx_instruction *at, unsigned depth);

/* Returns, of each instruction, whether grid.sync() begins there: at a barrier from which no other
 * one leads to the addition, or at a call. From malloc; NULL: there is none, or the host has no
 * memory, and a look is what it was. */
static bool *find_grid_barriers(const struct ptx_function *source, unsigned depth)
{
    const uint32_t count = source->instruction_count;
    bool *workspace = calloc(source->register_count + (size_t)1, sizeof *workspace);
    bool *reached = malloc((count + (size_t)1) * sizeof *reached);
    bool *barriers = calloc(count + (size_t)1, sizeof *barriers), any = false;
    const bool adds = workspace != NULL && find_workspace(source, workspace);
    for (uint32_t k = 0; reached != NULL && barriers != NULL && k < count; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (at->op == PTX_OP_CALL) barriers[k] = syncs_grid(at, depth);
        if (adds && orders_block(at->op)) {
            memset(reached, 0, (count + (size_t)1) * sizeof *reached);
            spread_until(source, k, NULL, reached);
            for (uint32_t i = 0; i < count && !barriers[k]; i++)
                barriers[k] = reached[i] && adds_to_grid(&source->instructions[i], workspace);
        }
        any |= barriers[k];
    }
    free(workspace);
    free(reached);
    if (any) return barriers;
    free(barriers);
    return NULL;
}

/* Returns whether no way through the called function avoids grid.sync(). */
static bool syncs_grid(const struct ptx_instruction *at, unsigned depth)
{
    enum { MOST_DEEP = 4 };
    const struct ptx_function *callee = at->call->function;
    if (callee == NULL || callee->instruction_count == 0 || depth == MOST_DEEP) return false;
    const uint32_t count = callee->instruction_count;
    bool *barriers = find_grid_barriers(callee, depth + 1);
    bool *reached = barriers != NULL ? calloc(count + (size_t)1, sizeof *reached) : NULL;
    bool avoids = reached == NULL;
    if (reached != NULL && !barriers[0]) spread_until(callee, 0, barriers, reached);
    for (uint32_t k = 0; k < count && !avoids; k++)
        avoids = reached[k] && (callee->instructions[k].op == PTX_OP_RET || k + 1 == count);
    free(barriers);
    free(reached);
    return !avoids;
}

static const bool *grid_barriers(struct lower *lower)
{
    if (!lower->grid_barriers_sought) lower->grid_barriers = find_grid_barriers(lower->source, 0);
    lower->grid_barriers_sought = true;
    return lower->grid_barriers;
}

/* Returns whether instruction `k` is a barrier of the block, or a call that leads to one. */
static bool is_barrier(struct lower *lower, uint32_t k)
{
    const enum ptx_opcode op = lower->source->instructions[k].op;
    return orders_block(op) ||
           (op == PTX_OP_CALL && grid_barriers(lower) != NULL && lower->grid_barriers[k]);
}

/* Returns, of each instruction, whether the load `at` leads there with no barrier of the grid
 * between. NULL: the function has none, or the host has no memory. */
static bool *before_grid_barrier(struct lower *lower)
{
    if (grid_barriers(lower) == NULL) return NULL;
    bool *ahead = calloc(lower->source->instruction_count + (size_t)1, sizeof *ahead);
    if (ahead != NULL)
        spread_until(lower->source, (uint32_t)(lower->place - lower->source->instructions),
                     lower->grid_barriers, ahead);
    return ahead;
}

enum flow { FLOW_NONE, FLOW_ON, FLOW_DECIDES };

/* What becomes of the values in `flows` in one instruction. A store elsewhere in global or shared
 * memory ends them; at `address` it is the act. */
static enum flow flow_through(const struct lower *lower, const struct ptx_instruction *at,
                              const struct address *address, bool *flows)
{
    const bool stores = at->op == PTX_OP_ST, makes = passes_on(at->op);
    const uint16_t space = at->modifiers.space;
    bool any = false;
    for (uint8_t k = makes; k < at->operand_count && !any; k++)
        any = takes(&at->operands[k], flows);
    if (!any) return FLOW_NONE;
    if (makes) return flow_into(&at->operands[0], flows) ? FLOW_ON : FLOW_NONE;
    if (!stores || (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED) ||
        same_address(lower, address, &at->operands[0]))
        return FLOW_DECIDES;
    return FLOW_NONE;
}

/* Returns whether what the load `at` brings can decide what its thread does, or becomes a part of
 * what is stored at `address`. Where it only goes into other memory, or decides behind the next
 * grid.sync(), it is no look, but a value that has to be right. True when the host has no memory to
 * find out. */
static bool decides(struct lower *lower, const struct address *address)
{
    const struct ptx_function *source = lower->source;
    bool *flows = calloc(source->register_count + (size_t)1, sizeof *flows);
    enum flow flow = FLOW_ON;
    if (flows == NULL) return true;
    bool *ahead = before_grid_barrier(lower);
    flow_into(&lower->at->operands[0], flows);
    while (flow == FLOW_ON) {
        flow = FLOW_NONE;
        for (uint32_t k = 0; k < source->instruction_count && flow != FLOW_DECIDES; k++) {
            if (ahead != NULL && !ahead[k]) continue;
            const enum flow here = flow_through(lower, &source->instructions[k], address, flows);
            if (here != FLOW_NONE) flow = here;
        }
    }
    free(flows);
    free(ahead);
    return flow == FLOW_DECIDES;
}

/* Returns whether an atom.cas further on, before the block's next barrier, is on the address of the
 * load `at`, computed in another way perhaps: libcu++'s take generic pointers. */
static bool is_swapped(const struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    if (lower->at->op != PTX_OP_LD) return false;
    for (uint32_t k = lower->next_act[lower->place - source->instructions];
         k < source->instruction_count; k = lower->next_act[k]) {
        const struct ptx_instruction *later = &source->instructions[k];
        if (orders_block(later->op)) return false;
        if (later->op == PTX_OP_ATOM && later->modifiers.operation == PTX_ATOMIC_CAS &&
            lower_same_sum(lower, lower->place, &lower->at->operands[1], later,
                           &later->operands[1]))
            return true;
    }
    return false;
}

bool lower_looks(struct lower *lower, const struct ptx_operand *operand, enum lower_acts acts)
{
    const struct ptx_function *source = lower->source;
    if (!lower->program->watched || operand->kind != PTX_OPERAND_ADDRESS) return false;
    if (lower->symbols == NULL && !find_symbols(lower)) return false;
    if (is_swapped(lower)) return true;
    if (operand->reg != PTX_NO_REGISTER && lower->written[operand->reg] != LOWER_ONCE) return false;
    const struct address address = address_of(lower, operand);
    bool stores_count = acts & LOWER_ACTS_STORES;
    for (uint32_t k = lower->next_act[lower->place - source->instructions];
         k < source->instruction_count; k = lower->next_act[k]) {
        const struct ptx_instruction *later = &source->instructions[k];
        if (acts & LOWER_ACTS_AT_ONCE && is_barrier(lower, k)) return false;
        const bool stores = later->op == PTX_OP_ST && stores_count &&
                            same_address(lower, &address, &later->operands[0]);
        const bool acts_here =
            stores ||
            (later->op == PTX_OP_RED && same_address(lower, &address, &later->operands[0])) ||
            (later->op == PTX_OP_ATOM && same_address(lower, &address, &later->operands[1]));
        if (!acts_here || !leads_to(lower, k)) continue;
        if (!stores || lower->at->op != PTX_OP_LD || decides(lower, &address)) return true;
        stores_count = false;
    }
    return false;
}

/* Returns whether instruction `k` is in a loop that ends before `at`; a load in such a loop is a
 * wait. */
static bool is_in_earlier_loop(const struct lower *lower, uint32_t k)
{
    const struct ptx_instruction *source = lower->source->instructions;
    for (uint32_t j = k + 1; &source[j] < lower->place; j++)
        if (source[j].op == PTX_OP_BRA && source[j].operands[0].kind == PTX_OPERAND_LABEL &&
            source[j].operands[0].target <= k)
            return true;
    return false;
}

bool lower_modifies(struct lower *lower, const struct ptx_operand *operand)
{
    const struct ptx_function *source = lower->source;
    if (!lower->program->watched || operand->kind != PTX_OPERAND_ADDRESS ||
        lower->at->modifiers.semantics != PTX_SEM_VOLATILE ||
        (operand->reg != PTX_NO_REGISTER && lower->written[operand->reg] != LOWER_ONCE))
        return false;
    if (lower->symbols == NULL && !find_symbols(lower)) return false;
    const struct address address = address_of(lower, operand);
    bool loaded = false;
    for (uint32_t k = 0; &source->instructions[k] < lower->place; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (at->op != PTX_OP_LD || at->modifiers.semantics != PTX_SEM_VOLATILE ||
            !same_address(lower, &address, &at->operands[1]))
            continue;
        if (is_in_earlier_loop(lower, k)) return false;
        loaded = true;
    }
    return loaded;
}

void lower_note_look(struct lower *lower, uint32_t cache, unsigned looks_as)
{
    struct exec_program *program = lower->program;
    if (!program->watched || !looks_as) return;
    if (!array_reserve(&program->looks, cache + (size_t)1, &program->looks_room,
                       sizeof *program->looks)) {
        lower->failed = true;
        return;
    }
    program->looks[cache] |= (uint16_t)looks_as;
}
