/* Objects: the tables of live and of ended handles. */
#include "emulator/base/hash.h"
#include "emulator/driver/core/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of live handles ----------------------------------------------------------- */

enum { BUCKETS = 2048 };
static struct object *live[BUCKETS];

static struct object **bucket_of(const void *handle)
{
    return &live[hash_spread((uintptr_t)handle >> 5) >> 32 & (BUCKETS - 1)];
}

/* Two rings: copies of the latest ended objects, for the reports about their handles, and the
 * memory of freed objects, which is kept for a while so that no new object gets the same handle. */
enum { ENDED = 4096 };
static struct {
    struct ended_object {
        const void *handle;
        struct object was;
    } objects[ENDED];
    size_t count;
    struct object *memory[ENDED];
    size_t freed;
} ended;

static struct object *find(const void *handle)
{
    if (handle == NULL) return NULL;
    struct object *object = *bucket_of(handle);
    while (object != NULL && (const void *)object != handle) object = object->bucket;
    return object;
}

void object_add(struct object *object, enum object_kind kind)
{
    struct object **bucket = bucket_of(object);
    assert(kind < OBJECT_KIND_COUNT && find(object) == NULL);
    object->kind = kind;
    object->id = ++driver.ids;
    object->caller = call_place();
    object->ended = 0;
    object->context = NULL;
    object->end = NULL;
    object->bucket = *bucket;
    *bucket = object;
}

void object_add_to(struct context *context, struct object *object, enum object_kind kind,
                   object_ender *end)
{
    assert(context->alive && end != NULL);
    object_add(object, kind);
    object->context = context;
    object->end = end;
    object->previous = NULL;
    object->next = context->objects;
    if (object->next != NULL) object->next->previous = object;
    context->objects = object;
}

void object_remove(struct object *object)
{
    struct object **link = bucket_of(object);
    assert(find(object) == object);
    while (*link != object) link = &(*link)->bucket;
    *link = object->bucket;
    object->ended = call_place();
    ended.objects[ended.count++ % ENDED] = (struct ended_object){object, *object};
    if (object->context == NULL) return;
    *(object->previous != NULL ? &object->previous->next : &object->context->objects) =
        object->next;
    if (object->next != NULL) object->next->previous = object->previous;
}

void object_free(struct object *object)
{
    assert(find(object) == NULL);
    free(ended.memory[ended.freed % ENDED]);
    ended.memory[ended.freed++ % ENDED] = object;
}

void *object_peek(const void *handle, enum object_kind kind)
{
    struct object *object = find(handle);
    return object != NULL && object->kind == kind ? object : NULL;
}

const struct object *object_live(const void *handle)
{
    return find(handle);
}

const struct object *object_ended(const void *handle)
{
    const size_t known = ended.count < ENDED ? ended.count : ENDED;
    for (size_t i = 0; i < known; i++) {
        const struct ended_object *object = &ended.objects[(ended.count - 1 - i) % ENDED];
        if (object->handle == handle) return &object->was;
    }
    return NULL;
}

struct object *object_next(const struct object *after)
{
    if (after != NULL && after->bucket != NULL) return after->bucket;
    size_t bucket = after != NULL ? (size_t)(bucket_of(after) - live) + 1 : 0;
    while (bucket < BUCKETS && live[bucket] == NULL) bucket++;
    return bucket < BUCKETS ? live[bucket] : NULL;
}
