/* races: records which bytes each operation and the host touched, and reports two touches of the
 * same bytes that nothing orders.
 *
 * This module asks the timeline what happens before what. For every region of memory it keeps the
 * touches that a later one may still be unordered against. Two touches are never reported when an
 * edge orders them: the order in which they happened to run does not count, but only what CUDA
 * promises, and what its GPUs do beyond that.
 *
 * It knows nothing of the API and writes no messages: a callback receives each race. It takes no
 * lock: the caller holds the lock that guards the timeline.
 *
 * Source: CUDA Programming Guide, "Asynchronous Concurrent Execution"; Driver API, "API
 * synchronization behavior".
 */
#ifndef OVERLAP_RACES_RACES_H
#define OVERLAP_RACES_RACES_H

#include "emulator/races/set.h"
#include "emulator/timeline/timeline.h"

enum races_mode {
    RACES_READ,
    RACES_WRITE,
    RACES_ATOMIC, /* a race with another atomic only between devices */
    RACES_FREE,   /* the memory is freed */
};

/* Where device code touched some bytes. */
struct races_site {
    enum races_mode mode;
    struct races_range bytes; /* bounds of all bytes that this line touched */
    const char *file;         /* must outlive the actor; NULL: unknown */
    uint32_t line;
    bool strong; /* by it an actor that converses may tell others something, or learn it */
    bool deaf;   /* it learns nothing that decides what the actor does */
};

/* The operation, or the host, that touches memory. Reference-counted; created with one
 * reference. */
struct races_actor {
    unsigned references;
    /* The actor exchanges values with other threads while it runs (volatile accesses, fences, a
     * wait in a loop). Memory itself may order two such actors, so no race between them is
     * reported. Who touches what its strong sites touch may talk with it: that is no race, and from
     * then on the later of the two counts as happening after everything. */
    bool converses;
    /* The device that it runs on, from 1 on; 0: the host, or all. It orders its accesses for other
     * devices by memory, or changes memory atomically for them, which in page-locked memory nobody
     * does. Of two devices, who does not cannot have told the other anything before it ended; and
     * atomics race if one is not atomic there. */
    unsigned device;
    bool orders_system, counts_system, is_page_locked;
    /* What it has done before is told with the atomics that it makes: it has fences, or does
     * nothing but tell. */
    bool tells;
    /* The host's own code; or a kernel that told the host something while it ran, so that it may
     * have told everybody by means of the host. Then no more is known than this: it did not order
     * its stores for the host, which race with accesses by the host's code alone; or it heard
     * nothing, so that its atomics may race with those of other devices. */
    bool is_host, for_host, for_atomics;
    struct races_site *sites; /* owned; may be NULL */
    size_t site_count;
    void (*release)(struct races_actor *actor); /* frees the object that contains the actor */
};
void races_actor_release(struct races_actor *actor); /* NULL is ignored */

/* One of the two sides of a race. */
struct races_side {
    const struct races_actor *actor;
    enum races_mode mode;
    const struct races_site *site; /* NULL: not in device code, or unknown */
};

struct races_found {
    struct races_side first, second; /* in the order in which they ran here */
    uint64_t memory;                 /* as given to races_touch */
    uint64_t offset;                 /* the first byte that both touched */
    uint64_t bytes;                  /* how many bytes both touched */
    bool is_advice; /* GPUs order the two, by a wait that no documentation promises */
    bool is_early;  /* reported by races_look */
    bool is_narrow; /* atomics, or talk, that do not reach from the one's device to the other's */
};

struct races;

/* Returns NULL when the host has no memory. races_touch and races_look call `report` for each
 * race. */
struct races *races_create(struct timeline *timeline,
                           void (*report)(void *user, const struct races_found *found), void *user);
void races_destroy(struct races *races); /* NULL is ignored */

/* Records that `actor` touches the bytes of `set`, either when `op` runs or, where `op` is NULL, at
 * the present point of the host's program. `memory` is a region's id, or 0 for the host's own
 * memory, whose offsets are addresses. Takes ownership of what `set` holds and empties it. Reports
 * at most one race, and an advice only when there is no race. */
void races_touch(struct races *races, struct timeline_op *op, struct races_actor *actor,
                 uint64_t memory, enum races_mode mode, struct races_set *set);

/* Looks for the actors that `actor`, which converses, may have talked with by means of its strong
 * sites. To be called for all regions before races_touch: what it learnt may order the rest. */
void races_meet(struct races *races, struct timeline_op *op, const struct races_actor *actor,
                uint64_t memory);

/* As races_touch, for bytes that `actor` may touch while the operation at `beside`, which ran
 * earlier, is still running. Checks for a race with that operation alone and records nothing. */
void races_look(struct races *races, struct timeline_when beside, struct races_actor *actor,
                uint64_t memory, enum races_mode mode, struct races_set *set);

/* The region has ended: its touches are dropped. */
void races_forget(struct races *races, uint64_t memory);

#endif
