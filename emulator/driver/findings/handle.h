/* handle: finds the objects behind the submission's handles. An invalid handle is reported as a
 * finding: the object is of another kind, has ended, or no call created it. If the call that should
 * have created it failed, that failure is reported instead (unchecked.h).
 */
#ifndef OVERLAP_DRIVER_FINDINGS_HANDLE_H
#define OVERLAP_DRIVER_FINDINGS_HANDLE_H

#include "emulator/driver/core/core.h"

/* Returns the object, or NULL (and reports a finding) when the handle is not a live object of that
 * kind. A NULL handle alone is not reported. For a handle of several possible kinds, or one of the
 * device's own, use object_peek. */
void *object_find(const void *handle, enum object_kind kind);
/* The error that a call returns for a stream or event handle unknown to object_find:
 * CUDA_ERROR_CONTEXT_IS_DESTROYED if its context is gone, else CUDA_ERROR_INVALID_HANDLE. */
CUresult object_error(const void *handle);
/* Reports a finding of the kind "wrong context": `object` belongs to another context than
 * `context`. Returns CUDA_ERROR_INVALID_HANDLE. */
CUresult wrong_context(enum trace_finding_id id, const struct object *object,
                       const struct context *context);

#endif
