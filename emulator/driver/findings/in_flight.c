#include "emulator/driver/findings/in_flight.h"

#include "emulator/base/hash.h"
#include "emulator/driver/findings/finding.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

/* The source or the destination of a copy in flight. */
struct flight {
    uint64_t number; /* operation->flight; source and destination of one copy share it */
    struct races_rows rows;
    bool is_written;
    bool is_advice; /* a GPU has finished the access when the call returns */
    bool has_run, submitted;
    bool maybe_told;            /* the host may have told the device of a change before the copy */
    bool suspect;               /* the bytes have changed; whether that was legal is still open */
    bool gone;                  /* the bytes were no longer mapped */
    uint64_t sum;               /* checksum of the bytes as they should be */
    struct timeline_when when;  /* the copy's point in the timeline */
    struct timeline_when asked; /* the host's point right after the submitting call */
    struct trace_record record; /* copy of the operation's record */
    uint64_t stream_caller;
};

static struct {
    struct flight *flights;
    size_t count, room;
    uint64_t numbers;
    unsigned char chunk[CHUNK];
} air;

/* ---- checksums ---------------------------------------------------------------------------- */

/* Sums that do not wait for each other: a single one takes four times as long. */
enum { LANES = 8 };
struct sums {
    uint64_t lane[LANES];
};

static void mix(struct sums *sums, const unsigned char *bytes, size_t size)
{
    struct sums all = *sums; /* in registers, once the loop over the lanes is unrolled */
    for (; size >= sizeof all.lane; size -= sizeof all.lane, bytes += sizeof all.lane) {
#pragma GCC unroll 8
        for (unsigned k = 0; k < LANES; k++) {
            uint64_t word;
            memcpy(&word, bytes + k * sizeof word, sizeof word);
            const uint64_t sum = hash_spread(all.lane[k] ^ word);
            all.lane[k] = sum ^ sum >> 29;
        }
    }
    for (; size > 0; size--, bytes++) all.lane[0] = hash_add(all.lane[0], *bytes);
    *sums = all;
}

/* Computes the checksum. Returns false if some bytes are not mapped. */
static bool sum_of(const struct races_rows *rows, uint64_t *sum)
{
    struct sums sums = {{0}};
    for (uint64_t z = 0; z < rows->depth; z++) {
        for (uint64_t y = 0; y < rows->height; y++) {
            const uint64_t row = rows->address + z * rows->slice + y * rows->pitch;
            for (uint64_t at = 0; at < rows->width; at += CHUNK) {
                const size_t size = rows->width - at < CHUNK ? rows->width - at : CHUNK;
                const void *from = (const void *)(uintptr_t)(row + at);
                if (!memory_copy_guarded(air.chunk, from, size)) return false;
                mix(&sums, air.chunk, size);
            }
        }
    }
    *sum = HASH_START;
    for (unsigned k = 0; k < LANES; k++) *sum = hash_add(*sum, sums.lane[k]);
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

/* ---- reporting ---------------------------------------------------------------------------- */

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

/* Compares the bytes with the checksum and marks the flight as suspect if they differ. */
static void look(struct flight *flight)
{
    uint64_t sum;
    if (flight->gone) return;
    if (!sum_of(&flight->rows, &sum))
        flight->suspect = flight->gone = true;
    else if (sum != flight->sum)
        flight->suspect = true;
}

/* Takes the current bytes as the correct ones. */
static void take(struct flight *flight)
{
    if (!sum_of(&flight->rows, &flight->sum)) flight->gone = true;
}

static void drop(size_t index)
{
    air.flights[index] = air.flights[--air.count];
}

/* The last moment at which the bytes had to be unchanged: reports a change and forgets the
 * flight. */
static void judge_and_drop(size_t index)
{
    struct flight *flight = &air.flights[index];
    look(flight);
    if (flight->suspect) report(flight);
    drop(index);
}

/* ---- a copy from submission to end -------------------------------------------------------- */

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
    /* Memory that is missing at the submission already is reported by the copy itself. */
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

/* ---- other events ------------------------------------------------------------------------- */

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
