/* order: who is ordered behind whom in a program that is being made, so that its data is defined.
 *
 * A vector clock per stream, per event and for the host; every buffer remembers its last write and
 * the reads since. Before an access the family asks for what it is not yet ordered behind, and
 * makes a wait of some kind. Knows of no handles and makes no calls. It counts on what CUDA
 * promises and on no more: where CUDA says *may*, on nothing.
 *
 * Source: Driver API, "Stream synchronization behavior", "API synchronization behavior".
 */
#ifndef DIFFERENTIAL_ORDER_H
#define DIFFERENTIAL_ORDER_H

#include <stdbool.h>

enum { ORDER_STREAMS = 8, ORDER_EVENTS = 6, ORDER_BUFFERS = 16, ORDER_LEGACY = 0 };

struct order_clock {
    unsigned seen[ORDER_STREAMS]; /* up to which of each stream's operations */
};

struct order {
    struct order_clock stream[ORDER_STREAMS], event[ORDER_EVENTS], host;
    bool blocking[ORDER_STREAMS]; /* takes part in the legacy default stream's barriers */
    struct {
        int writer; /* stream of the last write, or ORDER_STREAMS: the host */
        unsigned write;
        unsigned reads[ORDER_STREAMS];
    } buffer[ORDER_BUFFERS];
};

enum order_access { ORDER_READ, ORDER_WRITE };

/* The next operation in `stream`: its clock is what it is ordered behind, itself included. */
void order_operation(struct order *order, int stream);
/* A stream with an operation that one in `stream` must be ordered behind before it may access
 * `buffer`, or -1. ORDER_STREAMS as `stream` asks for the host. */
int order_missing(const struct order *order, int stream, int buffer, enum order_access access);
/* The stream's latest operation, or with ORDER_STREAMS the host, accesses a buffer. */
void order_access(struct order *order, int stream, int buffer, enum order_access access);
/* The stream with the last write of `buffer`, if the legacy default stream would be ordered behind
 * it by its barrier alone; otherwise -1. */
int order_by_barrier_alone(const struct order *order, int buffer);
void order_record(struct order *order, int event, int stream);
void order_wait(struct order *order, int stream, int event);
/* The host has waited for a stream, an event, everything. */
void order_host_saw_stream(struct order *order, int stream);
void order_host_saw_event(struct order *order, int event);
void order_host_saw_all(struct order *order);
/* Whether the host knows that all of a stream, or all that an event captured, has ended. */
bool order_host_knows_stream(const struct order *order, int stream);
bool order_host_knows_event(const struct order *order, int event);

#endif
