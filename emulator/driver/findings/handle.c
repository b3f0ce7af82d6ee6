/* Invalid handles: what is wrong with them, and the error that the call returns. */
#include "emulator/driver/findings/handle.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/unchecked.h"

/* Handle values 0 to 2 stand for default streams, so a program passes them on purpose. */
enum { HANDLES_WITH_A_MEANING = 2 };

static void handle_is_wrong(enum trace_finding_id id, const void *handle,
                            const struct object *object, enum object_kind wanted)
{
    struct trace_record found = finding_at_call(id, CUDA_ERROR_INVALID_HANDLE);
    found.address = (uint64_t)(uintptr_t)handle;
    if (object != NULL) finding_object(&found, 0, object);
    finding_kind(&found, 1, wanted);
    finding_put(&found);
}

/* Reports what is wrong with a handle that is not an object of this kind. */
static void handle_explain(const void *handle, enum object_kind kind)
{
    const struct object *live = object_live(handle);
    const struct object *was = handle != NULL ? object_ended(handle) : NULL;
    if (live != NULL) {
        handle_is_wrong(FINDING_HANDLE_OF_OTHER_KIND, handle, live, kind);
    } else if (was != NULL) {
        handle_is_wrong(FINDING_USE_AFTER_DESTRUCTION, handle, was, kind);
    } else if (handle == NULL) {
        unchecked_lacks(kind);
    } else if ((uintptr_t)handle > HANDLES_WITH_A_MEANING) {
        unchecked_lacks(kind);
        handle_is_wrong(FINDING_HANDLE_OF_NOTHING, handle, NULL, kind);
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

CUresult wrong_context(enum trace_finding_id id, const struct object *object,
                       const struct context *context)
{
    struct trace_record found = finding_at_call(id, CUDA_ERROR_INVALID_HANDLE);
    finding_object(&found, 0, object);
    finding_object(&found, 1, &object->context->object);
    finding_object(&found, 2, &context->object);
    finding_put(&found);
    return CUDA_ERROR_INVALID_HANDLE;
}
