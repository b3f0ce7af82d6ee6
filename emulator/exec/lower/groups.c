/* Which loads, or stores, of a stretch of code together access adjacent bytes, such as the members
 * of a structure: the first of them marks all those bytes in the launch's footprint (exec_group in
 * decoded.h). */
#include "emulator/exec/lower/access.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN = 8, MEMBERS = 32, LARGEST = 64 /* bytes */ };

struct member {
    int64_t first, end; /* bytes, relative to the register */
    uint32_t cache;
};

/* Accesses through the same value of a register that all threads of a stretch execute, or none. */
struct group {
    uint32_t reg;
    bool stores;
    struct member members[MEMBERS];
    size_t count;
};

struct groups {
    struct lower *lower;
    struct group open[OPEN];
    size_t count;
};

static bool note(struct lower *lower, uint32_t cache, struct exec_group as)
{
    struct exec_program *program = lower->program;
    if (!array_reserve(&program->groups, cache + (size_t)1, &program->groups_room,
                       sizeof *program->groups)) {
        lower->failed = true;
        return false;
    }
    program->groups[cache] = as;
    return true;
}

static int by_first(const void *a, const void *b)
{
    const struct member *one = a, *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* Notes the group if its bytes leave no gap. */
static void conclude(struct lower *lower, const struct group *group)
{
    struct member sorted[MEMBERS];
    const struct member *leader = &group->members[0];
    if (group->count < 2) return;
    memcpy(sorted, group->members, group->count * sizeof *sorted);
    qsort(sorted, group->count, sizeof *sorted, by_first);
    const int64_t first = sorted[0].first;
    int64_t end = sorted[0].end;
    for (size_t k = 1; k < group->count; k++) {
        if (sorted[k].first > end) return;
        if (sorted[k].end > end) end = sorted[k].end;
    }
    if (end - first > LARGEST) return;
    const struct exec_group leads = {.before = (uint8_t)(leader->first - first),
                                     .after = (uint8_t)(end - leader->end)};
    bool noted = note(lower, leader->cache, leads);
    for (size_t k = 1; noted && k < group->count; k++)
        noted = note(lower, group->members[k].cache, (struct exec_group){.follows = true});
}

/* The register gets another value: its groups end. */
static void conclude_register(struct groups *groups, const struct ptx_operand *written)
{
    for (size_t k = 0; written->kind == PTX_OPERAND_REGISTER && k < groups->count;) {
        if (groups->open[k].reg == written->reg) {
            conclude(groups->lower, &groups->open[k]);
            groups->open[k] = groups->open[--groups->count];
        } else {
            k++;
        }
    }
}

static void conclude_written(struct groups *groups, const struct ptx_instruction *at)
{
    const struct ptx_operand *written;
    if (at->operand_count == 0 || !lower_writes_first(at)) return;
    const uint32_t count = lower_elements(&at->operands[0], &written);
    for (uint32_t k = 0; k < count; k++) conclude_register(groups, &written[k]);
}

static void conclude_all(struct groups *groups)
{
    for (size_t k = 0; k < groups->count; k++) conclude(groups->lower, &groups->open[k]);
    groups->count = 0;
}

static void add(struct groups *groups, uint32_t reg, bool stores, struct member member)
{
    size_t k = 0;
    while (k < groups->count && (groups->open[k].reg != reg || groups->open[k].stores != stores))
        k++;
    if (k == OPEN) return;
    struct group *group = &groups->open[k];
    if (k == groups->count) {
        groups->count++;
        group->reg = reg;
        group->stores = stores;
        group->count = 0;
    }
    if (group->count < MEMBERS) group->members[group->count++] = member;
}

/* Returns whether the instruction may end a stretch, or whether what it does must not be seen
 * before an access that precedes it. */
static bool ends(const struct lower *lower, const struct ptx_instruction *at)
{
    if (at->op == PTX_OP_UNKNOWN) return true;
    if (at->op == PTX_OP_LD || at->op == PTX_OP_ST) return lower_is_strong(lower, at);
    return !lower_writes_first(at) || lower_names_address(at) || at->op == PTX_OP_BAR_RED ||
           at->op == PTX_OP_BARRIER_RED;
}

static void look_at(struct groups *groups, const struct ptx_instruction *at, uint32_t cache)
{
    const bool stores = at->op == PTX_OP_ST;
    if ((at->op != PTX_OP_LD && !stores) || cache == LOWER_NO_CACHE ||
        at->guard != PTX_NO_REGISTER || !lower_may_be_global(at->modifiers.space))
        return;
    const struct ptx_operand *address = &at->operands[stores ? 0 : 1];
    const uint32_t count = lower_elements(&at->operands[stores ? 1 : 0], NULL);
    if (address->reg >= groups->lower->source->register_count) return;
    add(groups, address->reg, stores,
        (struct member){.first = address->offset,
                        .end = address->offset + (int64_t)(ptx_type_bytes(at->type) * count),
                        .cache = cache});
}

void lower_groups(struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    struct groups groups = {.lower = lower};
    for (uint32_t k = 0; k < source->instruction_count; k++) {
        const struct ptx_instruction *at = &source->instructions[k];
        if (lower->labelled[k] || ends(lower, at)) conclude_all(&groups);
        look_at(&groups, at, lower->cache_of[k]);
        conclude_written(&groups, at);
    }
    conclude_all(&groups);
}
