#include "emulator/driver/findings/in_flight.h"

#include "emulator/base/hash.h"
#include "emulator/driver/findings/finding.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

/* One side of a copy. */
struct flight {
    uint64_t number; /* of both sides of a copy; operation->flight */
    struct races_rows rows;
    bool is_written;
    bool is_advice; /* a GPU was done with them when the call returned */
    bool has_run, submitted;
    bool maybe_told;            /* the host may have ordered a change before the copy */
    bool suspect;               /* the bytes have changed, by whatever order */
    bool gone;                  /* they were not there any more */
    uint64_t sum;               /* of the bytes as they should be */
    struct timeline_when when;  /* of the copy */
    struct timeline_when asked; /* a point of the host's, right behind the call */
    struct trace_record record; /* the operation's */
    uint64_t stream_caller;
};

static struct {
    struct flight *flights;
    size_t count, room;
    uint64_t numbers;
    unsigned char chunk[CHUNK];
} air;

/* ---- what the bytes are ------------------------------------------------------------------- */

static uint64_t mix(uint64_t sum, const unsigned char *bytes, size_t size)
{
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = hash_spread(sum ^ word);
        sum ^= sum >> 29;
    }
    for (; size > 0; size--, bytes++) sum = hash_add(sum, *bytes);
    return sum;
}

/* False: some of them are not there. */
static bool sum_of(const struct races_rows *rows, uint64_t *sum)
{
    *sum = HASH_START;
    for (uint64_t z = 0; z < rows->depth; z++) {
        for (uint64_t y = 0; y < rows->height; y++) {
            const uint64_t row = rows->address + z * rows->slice + y * rows->pitch;
            for (uint64_t at = 0; at < rows->width; at += CHUNK) {
                const size_t size = rows->width - at < CHUNK ? rows->width - at : CHUNK;
                const void *from = (const void *)(uintptr_t)(row + at);
                if (!memory_copy_guarded(air.chunk, from, size)) return false;
                *sum = mix(*sum, air.chunk, size);
            }
        }
    }
    return true;
}

static bool overlap(const struct races_rows *a, const struct races_rows *b)
{
    const uint64_t a_end =
        a->address + (a->depth - 1) * a->slice + (a->height - 1) * a->pitch + a->width;
    const uint64_t b_end =
        b->address + (b->depth - 1) * b->slice + (b->height - 1) * b->pitch + b->width;
    return a->address < b_end && b->address < a_end;
}

/* ---- telling ------------------------------------------------------------------------------ */

static void report(const struct flight *flight)
{
    struct trace_record found = finding_at_work(flight->is_advice ? FINDING_CHANGED_AFTER_STAGING
                                                : flight->gone    ? FINDING_FREED_IN_FLIGHT
                                                                  : FINDING_CHANGED_IN_FLIGHT,
                                                &flight->record, flight->stream_caller);
    found.finding.sides[0].access = flight->is_written ? ACCESS_WRITE : ACCESS_READ;
    finding_other_call(&found);
    found.address = flight->rows.address;
    found.bytes = flight->record.bytes;
    finding_put(&found);
}

/* Are the bytes as they should be? */
static void look(struct flight *flight)
{
    uint64_t sum;
    if (flight->gone) return;
    if (!sum_of(&flight->rows, &sum))
        flight->suspect = flight->gone = true;
    else if (sum != flight->sum)
        flight->suspect = true;
}

/* They are as they should be now. */
static void take(struct flight *flight)
{
    if (!sum_of(&flight->rows, &flight->sum)) flight->gone = true;
}

static void drop(size_t index)
{
    air.flights[index] = air.flights[--air.count];
}

/* The last moment at which they had to be the same. */
static void judge_and_drop(size_t index)
{
    struct flight *flight = &air.flights[index];
    look(flight);
    if (flight->suspect) report(flight);
    drop(index);
}

/* ---- a copy's way ------------------------------------------------------------------------- */

void in_flight_begins(struct operation *operation, const struct races_rows *rows, bool is_written,
                      bool is_advice)
{
    if (!races_watching() || rows->width == 0) return;
    if (air.count == air.room) {
        const size_t room = air.room ? air.room * 2 : 16;
        struct flight *flights = reallocarray(air.flights, room, sizeof *flights);
        if (flights == NULL) return;
        air.flights = flights;
        air.room = room;
    }
    if (operation->flight == 0) operation->flight = ++air.numbers;
    struct flight *flight = &air.flights[air.count];
    *flight = (struct flight){.number = operation->flight,
                              .rows = *rows,
                              .is_written = is_written,
                              .is_advice = is_advice,
                              .record = operation->record,
                              .stream_caller = operation->stream_caller};
    /* What is not there when it is asked for is the copy's own finding. */
    if (sum_of(rows, &flight->sum)) air.count++;
}

void in_flight_submitted(uint64_t number, const struct timeline_op *op)
{
    if (number == 0) return;
    const struct timeline_when asked = timeline_host_when(driver.timeline);
    for (size_t i = air.count; i-- > 0;) {
        struct flight *flight = &air.flights[i];
        if (flight->number != number) continue;
        if (op == NULL) {
            drop(i);
            continue;
        }
        flight->submitted = true;
        flight->when = timeline_op_when(op);
        flight->asked = asked;
    }
}

void in_flight_lands(const struct operation *operation)
{
    for (size_t i = air.count; i-- > 0;) {
        struct flight *flight = &air.flights[i];
        if (operation->flight == 0 || flight->number != operation->flight) continue;
        const bool told =
            flight->maybe_told ||
            (flight->submitted &&
             timeline_happens_before(flight->asked, operation->op, TIMELINE_PROMISED));
        if (told) {
            flight->suspect = flight->gone = false;
            take(flight);
            continue;
        }
        look(flight);
        if (!flight->suspect) continue;
        report(flight);
        drop(i);
    }
}

void in_flight_landed(const struct operation *operation)
{
    for (size_t i = air.count; i-- > 0;) {
        struct flight *flight = &air.flights[i];
        if (operation->flight == 0 || flight->number != operation->flight) continue;
        flight->has_run = true;
    }
}

/* ---- what others do ----------------------------------------------------------------------- */

void in_flight_overwrite(const struct races_rows *rows, bool done)
{
    for (size_t i = air.count; i-- > 0;) {
        struct flight *flight = &air.flights[i];
        if (!overlap(&flight->rows, rows)) continue;
        if (done) {
            take(flight);
            continue;
        }
        look(flight);
        if (!flight->has_run || !flight->suspect) continue; /* judged when it runs */
        report(flight);
        drop(i);
    }
}

void in_flight_sweep(void)
{
    for (size_t i = air.count; i-- > 0;) {
        const struct flight *flight = &air.flights[i];
        if (!flight->submitted ||
            !timeline_host_knows(driver.timeline, flight->when, TIMELINE_PROMISED))
            continue;
        if (flight->has_run)
            judge_and_drop(i);
        else
            drop(i); /* abandoned */
    }
}

void in_flight_conversed(const struct timeline_op *op)
{
    for (size_t i = air.count; i-- > 0;) {
        struct flight *flight = &air.flights[i];
        if (!flight->has_run)
            flight->maybe_told = true;
        else if (flight->submitted && timeline_happens_before(flight->when, op, TIMELINE_PROMISED))
            judge_and_drop(i);
    }
}

void in_flight_forget(const struct context *context)
{
    for (size_t i = air.count; i-- > 0;)
        if (air.flights[i].record.context == context->object.id) drop(i);
}
