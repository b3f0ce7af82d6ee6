/* Declarations shared by the files of stream/. */
#ifndef OVERLAP_DRIVER_STREAM_PARTS_H
#define OVERLAP_DRIVER_STREAM_PARTS_H

#include "emulator/driver/stream/stream.h"

/* Creates a stream; NULL: no memory. `implicit`: created by the device itself, as default streams
 * are. */
struct stream *stream_make(struct context *context, enum timeline_stream_kind kind, unsigned flags,
                           int priority, bool implicit);

/* Makes later work of the stream wait for `before`, of any context; NULL: for nothing. */
CUresult stream_come_behind(struct stream *stream, struct timeline_op *before);

/* Waits for all work of a stream; for the legacy default stream, for all blocking streams. */
CUresult wait_for_stream(struct stream *stream);
/* Queries `op`, or a stream: spends the time of a query and returns CUDA_SUCCESS,
 * CUDA_ERROR_NOT_READY or the context's error. */
CUresult answer_query(struct context *context, struct timeline_op *op);
CUresult answer_stream_query(struct stream *stream);

/* Makes the operation that records the event in the stream, NULL: no memory; and lets the event
 * stand for `op`, of which it takes the reference. */
struct operation *event_record_operation(const struct event *event, const struct stream *stream,
                                         struct timeline_work *work);
void event_set_record(struct event *event, struct timeline_op *op);

/* Submits a host function: exactly one of `callback` and `function` is given. */
CUresult host_function_submit(struct stream *stream, CUhostFn function, CUstreamCallback callback,
                              CUstream handle, void *argument);

/* Like capture_check_work: before a host wait for a stream or a query of it, before a wait for a
 * whole context, before a host wait for an event or a query of it. */
CUresult capture_check_wait(const struct stream *stream);
CUresult capture_check_context(const struct context *context);
CUresult capture_check_event(const struct event *event);
/* The same for cuEventElapsedTime, which never invalidates a capture. */
CUresult capture_check_elapsed(const struct event *event);

#endif
