#include "grader/evidence/given.h"
#include "grader/base/messages.h"

#include <ctype.h>

uint64_t given_stream(const struct evidence *evidence, uint32_t number)
{
    uint32_t i = 0;
    for (size_t k = 0; k < evidence->trace.count; k++) {
        const struct trace_record *r = &evidence->trace.records[k];
        if (r->kind == TRACE_MARK) break; /* the student's functions are called after this mark */
        if (r->kind == TRACE_CREATE && r->what == TRACE_STREAM &&
            (r->flags & TRACE_IMPLICIT) == 0 && i++ == number)
            return r->object;
    }
    return 0;
}

const char *given_work(const struct trace_record *operation)
{
    const bool to_host = operation->to == TRACE_PINNED || operation->to == TRACE_PAGEABLE;
    const bool from_host = operation->from == TRACE_PINNED || operation->from == TRACE_PAGEABLE;
    switch (operation->what) {
    case TRACE_KERNEL:
        return _("the kernel");
    case TRACE_SET:
        return _("the memset");
    case TRACE_HOST_FUNCTION:
        return _("the host function");
    default:
        return to_host == from_host ? _("the copy")
               : to_host            ? _("the copy to the host")
                                    : _("the copy to the device");
    }
}

static const struct trace_record *stream_of(const struct evidence *evidence,
                                            const struct trace_record *operation)
{
    return evidence_creation(evidence, operation->process, TRACE_STREAM, operation->stream);
}

bool given_in_default(const struct evidence *evidence, const struct trace_record *operation)
{
    const struct trace_record *stream = stream_of(evidence, operation);
    return stream == NULL || (stream->flags & TRACE_IMPLICIT) != 0;
}

static const char *whose(const struct evidence *evidence, const struct trace_record *operation)
{
    const struct trace_record *stream = stream_of(evidence, operation);
    if (given_in_default(evidence, operation)) return _("in the default stream");
    return evidence_by_submission(evidence, stream) ? _("in a stream of the function's own")
                                                    : _("in another stream");
}

bool given_any_in_default(const struct evidence *evidence, const struct phase *phase)
{
    const struct query operations = {.phase = phase, .kind = TRACE_OPERATION};
    const struct trace_record *r = NULL;
    while ((r = evidence_next(evidence, &operations, r)) != NULL)
        if (given_in_default(evidence, r)) return true;
    return false;
}

bool given_say_elsewhere(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, uint64_t stream, const char *meant)
{
    const struct query operations = {.phase = phase, .kind = TRACE_OPERATION};
    const struct trace_record *operation = NULL;
    while ((operation = evidence_next(evidence, &operations, operation)) != NULL) {
        if (operation->what != TRACE_KERNEL && operation->what != TRACE_COPY &&
            operation->what != TRACE_SET)
            continue;
        if (operation->stream == stream) continue;
        const char *work = given_work(operation);
        verdict_fail(verdict, evidence, operation, "%c%s is %s, not in %s.",
                     toupper((unsigned char)work[0]), work + 1, whose(evidence, operation),
                     _(meant));
        return true;
    }
    return false;
}
