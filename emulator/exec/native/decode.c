/* Classifies instructions for the translator, by their rows' handlers. */
#include "emulator/base/hash.h"
#include "emulator/exec/check/check.h"
#include "emulator/exec/native/private.h"
#include "emulator/exec/ops/ops.h"
#include "emulator/exec/ops/watch.h"

#include <pthread.h>
#include <string.h>

enum { BUCKETS = 8192, SOURCES = 5 };

static struct {
    pthread_once_t once;
    exec_handler *branch, *watch, *sync, *ret, *exit;
    struct entry {
        const struct exec_row *row;
        enum native_kind kind;
    } entries[BUCKETS];
} known = {.once = PTHREAD_ONCE_INIT};

static struct entry *entry_of(exec_handler *run)
{
    size_t k = (size_t)(hash_spread((uint64_t)(uintptr_t)run) >> 32) % BUCKETS;
    while (known.entries[k].row != NULL && known.entries[k].row->run != run) k = (k + 1) % BUCKETS;
    return &known.entries[k];
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static uint32_t words_of(const char *shape)
{
    uint32_t words = 0;
    for (; *shape != '\0'; words++) shape = exec_shape_next(shape);
    return words;
}

/* Rows that lowering puts beside accesses: they read slots and write none. */
static const char *const asides[] = {"watch", "order", "poll.b32", "poll.b64"};

static bool is_access(const struct exec_row *row)
{
    return begins(row->keys, "ld.") || begins(row->keys, "st.");
}

static bool is_atomic(const struct exec_row *row)
{
    return begins(row->keys, "atom.");
}

/* Warp-wide operations for which ops/quick.c has fast paths. */
static bool is_together(const struct exec_row *row)
{
    return begins(row->keys, "shfl.sync.") || begins(row->keys, "vote.sync.") ||
           begins(row->keys, "bar.warp.sync");
}

static enum native_kind kind_of_row(const struct exec_row *row)
{
    const uint32_t words = words_of(row->shape);
    for (size_t k = 0; k < sizeof asides / sizeof *asides; k++)
        if (!strcmp(row->keys, asides[k])) return NATIVE_CALL;
    if (is_access(row) || is_atomic(row)) return words == 1 ? NATIVE_CALL : NATIVE_END;
    if (is_together(row)) return NATIVE_TOGETHER;
    return words >= 2 && words <= SOURCES ? NATIVE_LANES : NATIVE_END;
}

static void add_row(void *user, const struct exec_row *row)
{
    (void)user;
    *entry_of(row->run) = (struct entry){.row = row, .kind = kind_of_row(row)};
}

static void build(void)
{
    exec_row_each(add_row, NULL);
    known.branch = exec_row_find("bra")->run;
    known.watch = exec_row_find("watch")->run;
    known.sync = exec_row_find("sync")->run;
    known.ret = exec_row_find("ret")->run;
    known.exit = exec_row_find("exit")->run;
}

exec_handler *native_row_handler(const struct exec_inst *inst)
{
    return inst->run == exec_guarded || inst->run == known.sync ? inst->inner : inst->run;
}

bool native_is_round(const struct exec_inst *inst)
{
    return inst->run == exec_branch_round || inst->run == exec_branch_round_guarded;
}

bool native_is_end(const struct exec_inst *inst)
{
    return inst->run == known.ret || inst->run == known.exit;
}

enum native_kind native_kind(const struct exec_inst *inst)
{
    pthread_once(&known.once, build);
    if (inst->run == known.branch || inst->run == exec_branch_guarded || native_is_round(inst))
        return NATIVE_BRANCH;
    const struct entry *entry = entry_of(native_row_handler(inst));
    if (entry->row == NULL || (inst->run == known.sync && entry->kind != NATIVE_TOGETHER))
        return NATIVE_END;
    return entry->kind;
}

bool native_is_judge(const struct exec_inst *inst)
{
    return native_kind(inst) == NATIVE_CALL && inst->run != known.watch &&
           !is_access(entry_of(native_row_handler(inst))->row) &&
           !is_atomic(entry_of(native_row_handler(inst))->row);
}

bool native_is_atomic(const struct exec_inst *inst)
{
    return native_kind(inst) == NATIVE_CALL && is_atomic(entry_of(native_row_handler(inst))->row);
}

static uint32_t width_of(const char *type)
{
    if (begins(type, "p") || begins(type, "cc")) return NATIVE_MASK;
    return begins(type + 1, "64") ? NATIVE_WIDE : NATIVE_NARROW;
}

/* A vector's elements are in slots d, b, c, e. */
static unsigned access_uses(const struct exec_row *row, const struct exec_inst *inst,
                            struct native_use uses[NATIVE_USES])
{
    const uint32_t slots[] = {inst->d, inst->b, inst->c, inst->e};
    const char *v2 = strstr(row->keys, ".v2."), *v4 = strstr(row->keys, ".v4.");
    const unsigned count = v4 != NULL ? 4 : v2 != NULL ? 2 : 1;
    const bool narrow = begins(row->keys + 3, "shared.");
    for (unsigned k = 0; k < count; k++)
        uses[k] = (struct native_use){
            .offset = slots[k], .width = width_of(row->shape), .writes = begins(row->keys, "ld.")};
    uses[count] =
        (struct native_use){.offset = inst->a, .width = narrow ? NATIVE_NARROW : NATIVE_WIDE};
    return count + 1;
}

static unsigned atomic_uses(const struct exec_row *row, const struct exec_inst *inst,
                            struct native_use uses[NATIVE_USES])
{
    const uint32_t width = width_of(row->shape);
    unsigned count = 0;
    uses[count++] = (struct native_use){.offset = inst->d, .width = width, .writes = true};
    uses[count++] = (struct native_use){
        .offset = inst->a, .width = inst->e == EXEC_ATOMIC_SHARED ? NATIVE_NARROW : NATIVE_WIDE};
    uses[count++] = (struct native_use){.offset = inst->b, .width = width};
    if (begins(row->keys, "atom.cas"))
        uses[count++] = (struct native_use){.offset = inst->c, .width = width};
    return count;
}

/* A shuffle's predicate is in slot e; the member mask of each lane is in the slot at imm. */
static unsigned together_uses(const struct exec_row *row, const struct exec_inst *inst,
                              struct native_use uses[NATIVE_USES])
{
    unsigned count = 0;
    uses[count++] = (struct native_use){.offset = (uint32_t)inst->imm, .width = NATIVE_NARROW};
    if (row->shape[0] == '\0') return count;
    uses[count++] =
        (struct native_use){.offset = inst->d, .width = width_of(row->shape), .writes = true};
    uses[count++] = (struct native_use){.offset = inst->a, .width = NATIVE_NARROW};
    if (!begins(row->keys, "shfl.")) return count;
    uses[count++] = (struct native_use){.offset = inst->b, .width = NATIVE_NARROW};
    uses[count++] = (struct native_use){.offset = inst->c, .width = NATIVE_NARROW};
    uses[count++] = (struct native_use){.offset = inst->e, .width = NATIVE_MASK, .writes = true};
    return count;
}

/* Row "watch" reads an address, a guard and the stored value when it is inlined. */
static unsigned aside_uses(const struct exec_inst *inst, struct native_use uses[NATIVE_USES])
{
    unsigned count = 0;
    if (inst->run != known.watch) return 0;
    if (exec_watch_is(inst, EXEC_WATCH_STORE))
        uses[count++] = (struct native_use){.offset = inst->d, .width = NATIVE_NARROW};
    uses[count++] = (struct native_use){
        .offset = inst->a, .width = inst->cache & EXEC_WATCH_WIDE ? NATIVE_WIDE : NATIVE_NARROW};
    if (inst->guard != EXEC_NO_GUARD)
        uses[count++] = (struct native_use){.offset = inst->guard >> 1, .width = NATIVE_MASK};
    return count;
}

bool native_is_counted(const struct exec_inst *inst)
{
    return inst->run != known.watch;
}

unsigned native_uses(const struct exec_inst *inst, struct native_use uses[NATIVE_USES])
{
    const struct exec_row *row = entry_of(native_row_handler(inst))->row;
    const uint32_t slots[SOURCES] = {inst->d, inst->a, inst->b, inst->c, inst->e};
    unsigned count = 0;
    if (native_kind(inst) == NATIVE_TOGETHER) return together_uses(row, inst, uses);
    if (is_access(row) || is_atomic(row)) {
        count = is_atomic(row) ? atomic_uses(row, inst, uses) : access_uses(row, inst, uses);
        if (inst->run == exec_guarded)
            uses[count++] = (struct native_use){.offset = inst->guard >> 1, .width = NATIVE_MASK};
        return count;
    }
    if (native_kind(inst) == NATIVE_CALL) return aside_uses(inst, uses);
    for (const char *at = row->shape; *at != '\0'; count++) {
        uses[count] = (struct native_use){.offset = slots[count],
                                          .width = width_of(at),
                                          .writes = count == 0 || begins(at, "cc")};
        at = exec_shape_next(at);
    }
    /* A comparison writes the complement of its result to slot e. */
    if (row->shape[0] == 'p' && row->shape[2] != 'p')
        uses[count++] =
            (struct native_use){.offset = inst->e, .width = NATIVE_MASK, .writes = true};
    if (inst->run == exec_guarded)
        uses[count++] = (struct native_use){.offset = inst->guard >> 1, .width = NATIVE_MASK};
    return count;
}

bool native_writes(const struct exec_inst *inst, uint32_t offset)
{
    struct native_use uses[NATIVE_USES];
    const unsigned count = native_uses(inst, uses);
    for (unsigned k = 0; k < count; k++)
        if (uses[k].writes && uses[k].offset == offset) return true;
    return false;
}
