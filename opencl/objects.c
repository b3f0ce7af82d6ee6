/* The objects created by the student's code. */
#include "opencl/inside.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t what, thing;
    cl_int invalid;
} kinds[KIND_COUNT] = {
    [KIND_NONE] = {TRACE_WHAT_NONE, THING_NONE, CL_INVALID_VALUE},
    [KIND_CONTEXT] = {TRACE_CL_CONTEXT, THING_CONTEXT, CL_INVALID_CONTEXT},
    [KIND_QUEUE] = {TRACE_CL_QUEUE, THING_QUEUE, CL_INVALID_COMMAND_QUEUE},
    [KIND_BUFFER] = {TRACE_CL_BUFFER, THING_BUFFER, CL_INVALID_MEM_OBJECT},
    [KIND_PROGRAM] = {TRACE_CL_PROGRAM, THING_PROGRAM, CL_INVALID_PROGRAM},
    [KIND_KERNEL] = {TRACE_CL_KERNEL, THING_KERNEL, CL_INVALID_KERNEL},
    [KIND_EVENT] = {TRACE_CL_EVENT, THING_EVENT, CL_INVALID_EVENT},
};

/* Objects do not move: pointers to them are kept. */
static struct {
    struct object **list;
    size_t count, room;
} all;

struct object *object_add(cl_handle handle, enum kind kind, struct object *context,
                          const struct call *call, size_t size)
{
    struct object *object = calloc(1, sizeof *object);
    struct trace_record record = {.kind = TRACE_CREATE,
                                  .what = kinds[kind].what,
                                  .caller = call->caller,
                                  .request = call->request,
                                  .bytes = size};
    if (object == NULL) return NULL;
    *object = (struct object){.handle = handle,
                              .kind = kind,
                              .references = 1,
                              .made = call->caller,
                              .context = context,
                              .size = size};
    layer_lock();
    if (all.count == all.room) {
        const size_t room = all.room > 0 ? 2 * all.room : 64;
        struct object **list = realloc(all.list, room * sizeof(struct object *));
        if (list == NULL) {
            layer_unlock();
            free(object);
            return NULL;
        }
        all.list = list;
        all.room = room;
    }
    all.list[all.count++] = object;
    record.object = object->id = all.count;
    layer_unlock();
    record.context = context != NULL ? context->id : 0;
    layer_put(&record);
    return object;
}

struct object *object_find(cl_handle handle, enum kind kind)
{
    struct object *found = NULL;
    layer_lock();
    for (size_t i = all.count; i-- > 0 && found == NULL;)
        if (all.list[i]->handle == handle && all.list[i]->kind == kind) found = all.list[i];
    layer_unlock();
    return found;
}

cl_int object_invalid(enum kind kind)
{
    return kinds[kind].invalid;
}

static void put_finding(const struct call *call, const struct object *object, enum kind kind)
{
    struct trace_record record = {.kind = TRACE_FINDING,
                                  .caller = call->caller,
                                  .request = call->request,
                                  .code = kinds[kind].invalid,
                                  .count = 1};
    trace_copy_string(record.name, sizeof record.name, call_name(call));
    record.finding.id = object != NULL ? FINDING_CL_RELEASED : FINDING_CL_NO_OBJECT;
    record.finding.things[1].kind = kinds[kind].thing;
    if (object != NULL) record.finding.sides[1].call = object->ended;
    layer_put(&record);
}

struct object *object_use(const struct call *call, cl_handle handle, enum kind kind)
{
    struct object *object = object_find(handle, kind);
    if (object != NULL && object->references > 0) return object;
    put_finding(call, object, kind);
    return NULL;
}

void object_ask_name(struct object *object)
{
    cl_int (*ask)(cl_handle, cl_uint, size_t, void *, size_t *);
    char name[4 * TRACE_NAME_SIZE] = "";
    layer_take(ROW_clGetKernelInfo, &ask);
    if (object == NULL || object->kind != KIND_KERNEL || ask == NULL) return;
    ask(object->handle, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    trace_copy_string(object->name, sizeof object->name, name);
}

void object_retain(struct object *object)
{
    layer_lock();
    object->references++;
    layer_unlock();
}

bool object_release(struct object *object, uint64_t caller)
{
    struct trace_record record = {.kind = TRACE_DESTROY,
                                  .what = kinds[object->kind].what,
                                  .object = object->id,
                                  .caller = caller};
    layer_lock();
    const bool last = --object->references == 0;
    if (last) object->ended = caller;
    layer_unlock();
    if (last) layer_put(&record);
    return last;
}

void objects_visit(enum kind kind, void (*visit)(struct object *object))
{
    for (size_t i = 0;; i++) {
        layer_lock();
        struct object *object = i < all.count ? all.list[i] : NULL;
        layer_unlock();
        if (object == NULL) return;
        if (object->kind == kind) visit(object);
    }
}
