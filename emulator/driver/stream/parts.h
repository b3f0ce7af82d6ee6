/* What the files of stream use of each other. */
#ifndef OVERLAP_DRIVER_STREAM_PARTS_H
#define OVERLAP_DRIVER_STREAM_PARTS_H

#include "emulator/driver/stream/stream.h"

/* NULL: no memory. `implicit`: made by the device itself. */
struct stream *stream_make(struct context *context, enum timeline_stream_kind kind, unsigned flags,
                           int priority, bool implicit);

/* Waits for all of a stream; the legacy default stream stands for all blocking ones. */
CUresult wait_for_stream(struct stream *stream);
/* A query's cost and answer. */
CUresult answer_query(struct context *context, struct timeline_op *op);
CUresult answer_stream_query(struct stream *stream);

/* `callback` or `function`. */
CUresult host_function_submit(struct stream *stream, CUhostFn function, CUstreamCallback callback,
                              CUstream handle, void *argument);

/* As capture_check_work: for a wait for a stream or a query of it, for a whole context, for a query
 * of an event or a wait for it by the host. */
CUresult capture_check_wait(const struct stream *stream);
CUresult capture_check_context(const struct context *context);
CUresult capture_check_event(const struct event *event);
/* The same for a time between events, which harms no capture. */
CUresult capture_check_elapsed(const struct event *event);

#endif
