/* What a capture permits. Captured work does not run, so a call that would connect it with running
 * work is an error and invalidates the capture; after that the capture can only be ended. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/stream/parts.h"

#include <assert.h>

const struct capture_verbs *capturing;

void capture_install(const struct capture_verbs *verbs)
{
    assert(capturing == NULL || capturing == verbs);
    capturing = verbs;
}

CUresult capture_invalidate(struct capture *capture, CUresult code, enum trace_finding_id why)
{
    capture->invalid = true;
    struct trace_record found = finding_at_call(why, code);
    found.finding.numbers[0] = capture->origin->object.id;
    finding_put(&found);
    return code;
}

bool stream_is_legacy(const struct stream *stream)
{
    return stream == stream->object.context->legacy;
}

bool stream_is_blocking(const struct stream *stream)
{
    return !(stream->flags & CU_STREAM_NON_BLOCKING);
}

/* Work in the legacy default stream synchronises with all blocking streams of its context,
 * including captured ones, so it invalidates their captures. */
static CUresult check_legacy(const struct context *context)
{
    CUresult code = CUDA_SUCCESS;
    for (struct capture *capture = driver.captures; capture != NULL; capture = capture->next) {
        for (const struct captured *part = capture->parts; part != NULL; part = part->next) {
            if (part->stream == NULL || part->stream->object.context != context ||
                !stream_is_blocking(part->stream))
                continue;
            code = capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                                      FINDING_CAPTURE_DEFAULT_STREAM);
            break;
        }
    }
    return code;
}

CUresult capture_check_work(const struct stream *stream)
{
    if (driver.captures == NULL) return CUDA_SUCCESS;
    if (stream_is_legacy(stream)) return check_legacy(stream->object.context);
    if (stream->captured != NULL && stream->captured->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return CUDA_SUCCESS;
}

CUresult capture_check_wait(const struct stream *stream)
{
    if (driver.captures == NULL) return CUDA_SUCCESS;
    if (stream_is_legacy(stream)) TRY(check_legacy(stream->object.context));
    if (stream->captured != NULL)
        return capture_invalidate(stream->captured->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                  FINDING_CAPTURE_STREAM_AWAITED);
    return capture_check_unsafe();
}

CUresult capture_check_context(const struct context *context)
{
    CUresult code = CUDA_SUCCESS;
    for (struct capture *capture = driver.captures; capture != NULL; capture = capture->next)
        if (capture->origin->object.context == context)
            code = capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                      FINDING_CAPTURE_CONTEXT_AWAITED);
    return code;
}

CUresult capture_check_unsafe(void)
{
    CUresult code = CUDA_SUCCESS;
    if (thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return code;
    for (struct capture *capture = driver.captures; capture != NULL; capture = capture->next) {
        const bool mine = capture->thread == thread.number;
        const bool prohibits = mine ? capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                    : capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                          thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (prohibits && !capture->invalid)
            code = capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                      FINDING_CAPTURE_UNSAFE_CALL);
        else if (prohibits)
            code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return code;
}

CUresult capture_check_event(const struct event *event)
{
    const struct captured *part = event->captured;
    if (part == NULL) return capture_check_unsafe();
    if (part->capture == NULL || part->capture->invalid) return CUDA_ERROR_INVALID_VALUE;
    return capture_invalidate(part->capture, CUDA_ERROR_CAPTURED_EVENT,
                              FINDING_CAPTURE_EVENT_AWAITED);
}

CUresult capture_check_elapsed(const struct event *event)
{
    if (event->captured == NULL) return CUDA_SUCCESS;
    const struct capture *capture = event->captured->capture;
    return capture != NULL && !capture->invalid ? CUDA_ERROR_CAPTURED_EVENT
                                                : CUDA_ERROR_INVALID_VALUE;
}

CUresult capture_check_never(const struct stream *stream)
{
    if (stream->captured == NULL) return CUDA_SUCCESS;
    return capture_invalidate(stream->captured->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                              FINDING_CAPTURE_UNKNOWN_WORK);
}

CUresult capture_refuse(const struct stream *stream, CUresult code)
{
    if (code == CUDA_SUCCESS || stream->captured == NULL) return code;
    return capture_invalidate(stream->captured->capture, code, FINDING_CAPTURE_WORK_REFUSED);
}
