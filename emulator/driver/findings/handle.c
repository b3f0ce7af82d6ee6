/* Handles that mean nothing: what is wrong with them, and the error that the call returns. */
#include "emulator/driver/findings/handle.h"

#include "emulator/driver/findings/unchecked.h"

/* 0 to 2 stand for default streams, and whoever passes them knows that they are no object. */
enum { HANDLES_WITH_A_MEANING = 2 };

/* What is wrong with a handle that is no object of this kind. */
static void handle_explain(const void *handle, enum object_kind kind)
{
    const struct object *live = object_live(handle);
    const struct object *was = handle != NULL ? object_ended(handle) : NULL;
    char what[192];
    if (live != NULL) {
        describe_object(live, what, sizeof what);
        finding("invalid handle", CUDA_ERROR_INVALID_HANDLE, "%s, is given where %s %s is wanted",
                what, object_kind_article(kind), object_kind_name(kind));
    } else if (was != NULL) {
        describe_object(was, what, sizeof what);
        finding("use after destruction", CUDA_ERROR_INVALID_HANDLE,
                "the handle is that of %s: it means nothing any more", what);
    } else if (handle == NULL) {
        unchecked_hurts(kind);
    } else if ((uintptr_t)handle > HANDLES_WITH_A_MEANING) {
        unchecked_hurts(kind);
        finding("invalid handle", CUDA_ERROR_INVALID_HANDLE,
                "0x%llx is given where %s %s is wanted, but no call has made one with this handle",
                (unsigned long long)(uintptr_t)handle, object_kind_article(kind),
                object_kind_name(kind));
    }
}

void *object_find(const void *handle, enum object_kind kind)
{
    void *object = object_peek(handle, kind);
    if (object == NULL) handle_explain(handle, kind);
    return object;
}

CUresult object_error(const void *handle)
{
    const struct object *was = object_live(handle) == NULL ? object_ended(handle) : NULL;
    return was != NULL && was->context != NULL && !was->context->alive
               ? CUDA_ERROR_CONTEXT_IS_DESTROYED
               : CUDA_ERROR_INVALID_HANDLE;
}

CUresult wrong_context(const struct object *object, const struct context *context, const char *rule)
{
    char what[192], own[192], other[192];
    describe_object(object, what, sizeof what);
    describe_object(&object->context->object, own, sizeof own);
    describe_object(&context->object, other, sizeof other);
    finding("wrong context", CUDA_ERROR_INVALID_HANDLE, "%s, belongs to %s, not to %s: %s", what,
            own, other, rule);
    return CUDA_ERROR_INVALID_HANDLE;
}
