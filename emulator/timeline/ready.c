/* Which operations have not run, and which of them may. */
#include "emulator/base/array.h"
#include "emulator/timeline/parts.h"

#include <assert.h>

bool ready_make_room(struct timeline *timeline)
{
    return array_reserve(&timeline->ready, timeline->unrun_count + (size_t)1, &timeline->ready_room,
                         sizeof(struct timeline_op *));
}

void ready_add(struct timeline_op *op)
{
    struct timeline *timeline = op->timeline;
    assert(op->unrun == 0 && op->state != ORDER_HAS_RUN);
    assert(timeline->ready_count < timeline->ready_room);
    op->state = ORDER_READY;
    op->ready_index = timeline->ready_count;
    timeline->ready[timeline->ready_count++] = op;
}

void ready_remove(struct timeline_op *op)
{
    struct timeline *timeline = op->timeline;
    assert(op->ready_index < timeline->ready_count && timeline->ready[op->ready_index] == op);
    struct timeline_op *moved = timeline->ready[--timeline->ready_count];
    timeline->ready[op->ready_index] = moved;
    moved->ready_index = op->ready_index;
}

void unrun_list_remove(struct timeline_op *op)
{
    struct timeline *timeline = op->timeline;
    *(op->older != NULL ? &op->older->younger : &timeline->oldest) = op->younger;
    *(op->younger != NULL ? &op->younger->older : &timeline->youngest) = op->older;
    op->older = op->younger = NULL;
    assert(timeline->unrun_count > 0);
    timeline->unrun_count--;
    if (op->begun) timeline->begun_count--;
    if (op->work.waits) timeline->value_count--;
    if (op->work.converses) timeline->conversing_count--;
}
