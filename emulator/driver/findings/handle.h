/* handle: the objects behind the handles that the submission uses. What is wrong with one that
 * means nothing is a finding: it is of another kind, its object has ended, or no call has made it.
 * Where the call that should have made it failed, that is what is told (unchecked.h).
 */
#ifndef OVERLAP_DRIVER_FINDINGS_HANDLE_H
#define OVERLAP_DRIVER_FINDINGS_HANDLE_H

#include "emulator/driver/core/core.h"

/* The object, or NULL when it is none, is of another kind, or has ended. NULL is no mistake by
 * itself. For a handle that may be of several kinds, or that is our own: object_peek. */
void *object_find(const void *handle, enum object_kind kind);
/* What a call gives for a handle of a stream or an event that object_find does not know: that its
 * context is gone, or that it is none. */
CUresult object_error(const void *handle);
/* CUDA_ERROR_INVALID_HANDLE, and a finding, one of the kind "wrong context": `object` belongs to
 * another context than `context`. */
CUresult wrong_context(enum trace_finding_id id, const struct object *object,
                       const struct context *context);

#endif
