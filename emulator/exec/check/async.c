#include "emulator/exec/check/async.h"
#include "emulator/base/array.h"
#include "emulator/exec/check/products.h"
#include "emulator/exec/check/shadow_line.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 1024, NONE = 0 };

/* A copy under way. Copies are numbered from 1 on; numbers are reused. */
struct copy {
    uint32_t next;   /* of the same list: a thread's, `telling`, or the spare ones */
    uint32_t thread; /* that issued it */
    uint32_t group;  /* of that thread */
    uint32_t offset, bytes;
    uint32_t site;
    uint64_t object; /* barrier object that it completes on; EXEC_ASYNC_OWN: none */
};

struct list {
    uint32_t first, last;
};

struct exec_async {
    bool reads;      /* these copies read shared memory instead of filling it */
    uint32_t *words; /* of shared memory: the copy that fills or reads each, or NONE */
    size_t word_count;
    struct copy *copies; /* [0] is unused */
    uint32_t made, spare, under_way;
    size_t room;
    struct list own[MOST_THREADS]; /* per thread, in the order of groups */
    uint32_t group[MOST_THREADS];  /* per thread: the open group */
    struct list telling;           /* copies that complete on a barrier object */
};

static struct exec_async *create(uint32_t bytes)
{
    struct exec_async *async = calloc(1, sizeof *async);
    if (async == NULL) return NULL;
    async->word_count = (size_t)bytes / 4 + 1;
    async->words = calloc(async->word_count, sizeof *async->words);
    if (async->words != NULL) return async;
    free(async);
    return NULL;
}

void exec_async_destroy(struct exec_async *async)
{
    if (async == NULL) return;
    free(async->words);
    free(async->copies);
    free(async);
}

void exec_async_reset(struct exec_async *async)
{
    if (async == NULL) return;
    if (async->under_way) memset(async->words, 0, async->word_count * sizeof *async->words);
    memset(async->own, 0, sizeof async->own);
    memset(async->group, 0, sizeof async->group);
    async->telling = (struct list){NONE, NONE};
    async->made = async->spare = async->under_way = 0;
}

bool exec_async_any(const struct exec_block *block)
{
    return (block->async != NULL && block->async->under_way) ||
           (block->outgoing != NULL && block->outgoing->under_way) || exec_products_any(block);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Returns the number of a free copy; NONE: no memory. */
static uint32_t take(struct exec_async *async)
{
    const uint32_t spare = async->spare;
    if (spare != NONE) {
        async->spare = async->copies[spare].next;
        return spare;
    }
    if (!array_reserve(&async->copies, async->made + (size_t)2, &async->room,
                       sizeof *async->copies))
        return NONE;
    return ++async->made;
}

/* Adds a copy to its thread's list (`own`) or to `telling`. */
static void append(struct exec_async *async, const struct copy *copy, bool own)
{
    const uint32_t number = take(async);
    if (number == NONE) return;
    struct list *list = own ? &async->own[copy->thread] : &async->telling;
    async->copies[number] = *copy;
    async->copies[number].group = async->group[copy->thread];
    if (list->first == NONE)
        list->first = number;
    else
        async->copies[list->last].next = number;
    list->last = number;
    async->under_way++;
    for (uint64_t word = copy->offset / 4; word <= (copy->offset + copy->bytes - 1) / 4; word++)
        async->words[word] = number;
}

static bool is_kept(const struct exec_block *block, struct exec_async **async, uint64_t offset,
                    uint64_t bytes)
{
    const struct exec_shadow *shadow = block->shadow;
    if (shadow == NULL || bytes == 0 || offset + bytes > shadow->bytes) return false;
    if (*async == NULL) *async = create(shadow->bytes);
    if (*async == NULL) return false;
    exec_shadow_line_drop(block->shadow);
    return true;
}

void exec_async_begin(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, uint64_t object)
{
    struct exec_async **async = &warp->block->async;
    if (!is_kept(warp->block, async, offset, bytes)) return;
    if (warp->block->cluster == NULL && warp->block->shadow->cells[EXEC_KEPT_READ] != NULL)
        exec_shadow_overwrite(warp, inst, lane, offset, bytes);
    append(*async,
           &(struct copy){.thread = warp->index * EXEC_LANES + lane,
                          .offset = (uint32_t)offset,
                          .bytes = (uint32_t)bytes,
                          .site = inst->position,
                          .object = object},
           object == EXEC_ASYNC_OWN);
}

/* Adjacent pieces of one copy are kept as a single copy. */
void exec_async_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes)
{
    struct exec_async **where = &warp->block->outgoing;
    const uint32_t thread = warp->index * EXEC_LANES + lane;
    if (!is_kept(warp->block, where, offset, bytes)) return;
    struct exec_async *async = *where;
    async->reads = true;
    const uint32_t number = async->own[thread].first != NONE ? async->own[thread].last : NONE;
    struct copy *last = &async->copies[number];
    if (number == NONE || last->group != async->group[thread] || last->site != inst->position ||
        last->offset + last->bytes != offset) {
        append(async,
               &(struct copy){.thread = thread,
                              .offset = (uint32_t)offset,
                              .bytes = (uint32_t)bytes,
                              .site = inst->position,
                              .object = EXEC_ASYNC_OWN},
               true);
        return;
    }
    last->bytes += (uint32_t)bytes;
    for (uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++)
        async->words[word] = number;
}

/* The copy has filled or read its bytes: records this as a store or load by the issuing thread
 * now. */
static void land(const struct exec_warp *warp, struct exec_async *async, uint32_t number)
{
    struct exec_shadow *shadow = warp->block->shadow;
    struct copy *copy = &async->copies[number];
    const uint32_t end = copy->offset + copy->bytes;
    for (uint32_t at = copy->offset; at < end; at += 4) {
        if (async->words[at / 4] != number) continue;
        const uint32_t bytes = at + 4 < end ? 4 : end - at;
        async->words[at / 4] = NONE;
        if (async->reads)
            exec_shadow_loaded(shadow, copy->thread, at, bytes, copy->site);
        else
            exec_shadow_stored(shadow, copy->thread, at, bytes, copy->site);
    }
    copy->next = async->spare;
    async->spare = number;
    async->under_way--;
}

/* Lands the thread's own copies whose group is before `group`. */
static void land_own(const struct exec_warp *warp, struct exec_async *async, uint32_t thread,
                     uint32_t group)
{
    struct list *list = &async->own[thread];
    while (list->first != NONE && async->copies[list->first].group < group) {
        const uint32_t number = list->first;
        list->first = async->copies[number].next;
        land(warp, async, number);
    }
}

void exec_async_hand_over(const struct exec_warp *warp, unsigned lane)
{
    struct exec_async *async = warp->block->async;
    if (async != NULL) land_own(warp, async, warp->index * EXEC_LANES + lane, UINT32_MAX);
}

void exec_async_seen(const struct exec_warp *warp, uint64_t object)
{
    struct exec_async *async = warp->block->async;
    uint32_t number = async != NULL ? async->telling.first : NONE;
    bool any = false;
    if (number == NONE) return;
    async->telling = (struct list){NONE, NONE};
    while (number != NONE) {
        struct copy *copy = &async->copies[number];
        const uint32_t next = copy->next;
        if (copy->object == object) {
            land(warp, async, number);
            any = true;
        } else {
            if (async->telling.first == NONE)
                async->telling.first = number;
            else
                async->copies[async->telling.last].next = number;
            async->telling.last = number;
            copy->next = NONE;
        }
        number = next;
    }
    if (any) exec_shadow_order(warp->block);
}

/* ---- touches --------------------------------------------------------------------------------- */

static void touch(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                  const struct exec_async *async, uint64_t offset, uint64_t bytes,
                  enum exec_access access)
{
    for (uint64_t at = offset & ~UINT64_C(3); at < offset + bytes; at += 4) {
        if (at / 4 >= async->word_count || async->words[at / 4] == NONE) continue;
        const struct copy *copy = &async->copies[async->words[at / 4]];
        const struct exec_reported first = {copy->thread, copy->site,
                                            async->reads ? EXEC_LOAD : EXEC_STORE, true};
        const struct exec_reported second = {warp->index * EXEC_LANES + lane, inst->position,
                                             access, true};
        exec_report(warp, async->reads ? EXEC_WRONG_SOURCE : EXEC_WRONG_COPY, &first, &second, NULL,
                    at, (uint32_t)bytes);
        return;
    }
}

void exec_async_touch(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, enum exec_access access)
{
    const struct exec_block *block = warp->block;
    if (block->async != NULL) touch(warp, inst, lane, block->async, offset, bytes, access);
    if (access != EXEC_LOAD && block->outgoing != NULL)
        touch(warp, inst, lane, block->outgoing, offset, bytes, access);
    exec_products_touch(warp, inst, lane, offset, bytes, access);
}

void exec_async_overwrite(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                          uint64_t offset, uint64_t bytes)
{
    const struct exec_async *outgoing = warp->block->outgoing;
    if (outgoing != NULL) touch(warp, inst, lane, outgoing, offset, bytes, EXEC_STORE);
    exec_products_touch(warp, inst, lane, offset, bytes, EXEC_STORE);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static int commit(struct exec_warp *warp, const struct exec_inst *inst, struct exec_async *async)
{
    warp->instructions--;
    if (async == NULL) return EXEC_GO;
    for (uint32_t rest = exec_racecheck_lanes(warp, inst); rest; rest &= rest - 1)
        async->group[warp->index * EXEC_LANES + (unsigned)__builtin_ctz(rest)]++;
    return EXEC_GO;
}

static int await(struct exec_warp *warp, const struct exec_inst *inst, struct exec_async *async)
{
    warp->instructions--;
    if (async == NULL || !async->under_way) return EXEC_GO;
    for (uint32_t rest = exec_racecheck_lanes(warp, inst); rest; rest &= rest - 1) {
        const uint32_t thread = warp->index * EXEC_LANES + (unsigned)__builtin_ctz(rest);
        const uint32_t group = async->group[thread];
        land_own(warp, async, thread,
                 inst->imm == EXEC_ASYNC_ALL ? UINT32_MAX
                 : inst->imm < group         ? group - (uint32_t)inst->imm
                                             : 0);
    }
    return EXEC_GO;
}

int exec_async_commit(struct exec_warp *warp, const struct exec_inst *inst)
{
    return commit(warp, inst, warp->block->async);
}

int exec_async_wait(struct exec_warp *warp, const struct exec_inst *inst)
{
    return await(warp, inst, warp->block->async);
}

int exec_async_bulk_commit(struct exec_warp *warp, const struct exec_inst *inst)
{
    return commit(warp, inst, warp->block->outgoing);
}

int exec_async_bulk_wait(struct exec_warp *warp, const struct exec_inst *inst)
{
    return await(warp, inst, warp->block->outgoing);
}
