/* order: tracks happens-before in a program that is being generated, so that its data is
 * well-defined.
 *
 * There is a vector clock per stream, per event and for the host; every buffer has its last write
 * and the reads since. Before an access the family asks which operation it is not yet ordered
 * after, and adds a wait of some kind. This module knows no handles and makes no calls. It relies
 * only on what CUDA guarantees: where CUDA says *may*, it assumes nothing.
 *
 * Source: Driver API, "Stream synchronization behavior", "API synchronization behavior".
 */
#ifndef DIFFERENTIAL_ORDER_H
#define DIFFERENTIAL_ORDER_H

#include <stdbool.h>

enum { ORDER_STREAMS = 8, ORDER_EVENTS = 6, ORDER_BUFFERS = 16, ORDER_LEGACY = 0 };

struct order_clock {
    unsigned seen[ORDER_STREAMS]; /* number of each stream's last known operation */
};

struct order {
    struct order_clock stream[ORDER_STREAMS], event[ORDER_EVENTS], host;
    bool blocking[ORDER_STREAMS]; /* takes part in the legacy default stream's barriers */
    struct {
        int writer; /* stream of the last write; ORDER_STREAMS: the host */
        unsigned write;
        unsigned reads[ORDER_STREAMS];
    } buffer[ORDER_BUFFERS];
};

enum order_access { ORDER_READ, ORDER_WRITE };

/* Adds the next operation of `stream`: its clock has everything that it is ordered after, itself
 * included. */
void order_operation(struct order *order, int stream);
/* Returns a stream with an operation that must precede an access of `stream` to `buffer` and is not
 * ordered before it, or -1. `stream` ORDER_STREAMS is the host. */
int order_missing(const struct order *order, int stream, int buffer, enum order_access access);
/* Records that the stream's latest operation, or the host (ORDER_STREAMS), accesses a buffer. */
void order_access(struct order *order, int stream, int buffer, enum order_access access);
/* Returns the stream with the last write of `buffer`, if only the barrier of the legacy default
 * stream would order that stream's work after it; otherwise -1. */
int order_by_barrier_alone(const struct order *order, int buffer);
void order_record(struct order *order, int event, int stream);
void order_wait(struct order *order, int stream, int event);
/* Record that the host has waited for a stream, an event, everything. */
void order_host_saw_stream(struct order *order, int stream);
void order_host_saw_event(struct order *order, int event);
void order_host_saw_all(struct order *order);
/* Return true when the host knows that all of a stream, or all that an event captured, has
 * ended. */
bool order_host_knows_stream(const struct order *order, int stream);
bool order_host_knows_event(const struct order *order, int event);

#endif
