#include "tests/differential_api/order.h"

static void join(struct order_clock *to, const struct order_clock *from)
{
    for (int s = 0; s < ORDER_STREAMS; s++)
        if (to->seen[s] < from->seen[s]) to->seen[s] = from->seen[s];
}

static bool covers(const struct order_clock *clock, const struct order_clock *other)
{
    for (int s = 0; s < ORDER_STREAMS; s++)
        if (clock->seen[s] < other->seen[s]) return false;
    return true;
}

/* Returns everything that an operation submitted to `stream` now would be ordered after. */
static struct order_clock next_clock(const struct order *order, int stream)
{
    struct order_clock clock = order->stream[stream];
    join(&clock, &order->host);
    if (stream == ORDER_LEGACY) {
        for (int s = 1; s < ORDER_STREAMS; s++)
            if (order->blocking[s]) join(&clock, &order->stream[s]);
    } else if (order->blocking[stream]) {
        join(&clock, &order->stream[ORDER_LEGACY]);
    }
    return clock;
}

void order_operation(struct order *order, int stream)
{
    order->stream[stream] = next_clock(order, stream);
    order->stream[stream].seen[stream]++;
}

int order_missing(const struct order *order, int stream, int buffer, enum order_access access)
{
    struct order_clock clock = stream == ORDER_STREAMS ? order->host : next_clock(order, stream);
    int writer = order->buffer[buffer].writer;
    if (writer != ORDER_STREAMS && clock.seen[writer] < order->buffer[buffer].write) return writer;
    for (int s = 0; s < ORDER_STREAMS && access == ORDER_WRITE; s++)
        if (clock.seen[s] < order->buffer[buffer].reads[s]) return s;
    return -1;
}

int order_by_barrier_alone(const struct order *order, int buffer)
{
    int writer = order->buffer[buffer].writer;
    unsigned write = order->buffer[buffer].write;
    if (writer == ORDER_STREAMS || writer == ORDER_LEGACY) return -1;
    return order->host.seen[writer] < write && order->stream[ORDER_LEGACY].seen[writer] < write
               ? writer
               : -1;
}

void order_access(struct order *order, int stream, int buffer, enum order_access access)
{
    unsigned at = stream == ORDER_STREAMS ? 0 : order->stream[stream].seen[stream];
    if (access == ORDER_READ) {
        if (stream != ORDER_STREAMS) order->buffer[buffer].reads[stream] = at;
        return;
    }
    order->buffer[buffer].writer = stream;
    order->buffer[buffer].write = at;
    for (int s = 0; s < ORDER_STREAMS; s++) order->buffer[buffer].reads[s] = 0;
}

void order_record(struct order *order, int event, int stream)
{
    order_operation(order, stream);
    order->event[event] = order->stream[stream];
}

void order_wait(struct order *order, int stream, int event)
{
    order_operation(order, stream);
    join(&order->stream[stream], &order->event[event]);
}

void order_host_saw_stream(struct order *order, int stream)
{
    join(&order->host, &order->stream[stream]);
}

void order_host_saw_event(struct order *order, int event)
{
    join(&order->host, &order->event[event]);
}

void order_host_saw_all(struct order *order)
{
    for (int s = 0; s < ORDER_STREAMS; s++) join(&order->host, &order->stream[s]);
}

bool order_host_knows_stream(const struct order *order, int stream)
{
    return covers(&order->host, &order->stream[stream]);
}

bool order_host_knows_event(const struct order *order, int event)
{
    return covers(&order->host, &order->event[event]);
}
