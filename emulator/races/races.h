/* races: which bytes each operation and the host touched, and which two touches of the same bytes
 * nothing orders.
 *
 * It asks the timeline what happens before what and keeps, for every region of memory, the touches
 * that something may still be unordered against. It never accuses two touches that some edge
 * orders: not the order in which they happened to run counts, but what CUDA promises, and what its
 * GPUs do beyond that.
 *
 * It knows nothing of the API, and writes no sentence: whoever started it is told of each race. It
 * takes no lock: its caller holds the one that guards the timeline.
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
    RACES_ATOMIC, /* unordered with other atomics by intent */
    RACES_FREE,   /* the bytes cease to be */
};

/* Where in device code some bytes were touched. */
struct races_site {
    enum races_mode mode;
    struct races_range bytes; /* all that it touched lies in between */
    const char *file;         /* must outlive the actor; NULL: unknown */
    uint32_t line;
};

/* Who touches: an operation, or the host. Counted: made with one reference. */
struct races_actor {
    unsigned references;
    /* It exchanges values with others while it runs (volatile accesses, fences, a wait in a loop):
     * between two such, order may come from memory itself, and nothing is accused. */
    bool converses;
    struct races_site *sites; /* owned; may be NULL */
    size_t site_count;
    void (*release)(struct races_actor *actor); /* frees what it is part of */
};
void races_actor_release(struct races_actor *actor); /* NULL is fine */

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
    uint64_t bytes;                  /* how many */
    bool is_advice; /* GPUs order the two by a wait of theirs that nobody promises */
    bool is_early;  /* races_look found it */
};

struct races;

/* NULL: no memory. `report` is called inside races_touch. */
struct races *races_create(struct timeline *timeline,
                           void (*report)(void *user, const struct races_found *found), void *user);
void races_destroy(struct races *races); /* NULL is fine */

/* `actor` touches the bytes of `set` in `memory` (a region's id; 0: the host's own, by address) as
 * `op` runs, or as the host goes on (`op` NULL). Takes `set` over. Reports at most one race, and
 * advice only where there is none. */
void races_touch(struct races *races, struct timeline_op *op, struct races_actor *actor,
                 uint64_t memory, enum races_mode mode, struct races_set *set);

/* As races_touch, for bytes that `actor` may touch while `beside`, which has run before it, still
 * runs: looks for a race with that one alone, and keeps nothing. */
void races_look(struct races *races, struct timeline_when beside, struct races_actor *actor,
                uint64_t memory, enum races_mode mode, struct races_set *set);

/* The region has ended: its touches are forgotten. */
void races_forget(struct races *races, uint64_t memory);

#endif
