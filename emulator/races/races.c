#include "emulator/races/races.h"
#include "emulator/base/array.h"

#include <stdlib.h>

enum {
    BUCKETS = 1024,
    CROWDED = 64,  /* touches of one region before old ones are first dropped */
    PATIENCE = 16, /* searches among them, likewise */
    MOST = 16384,  /* touches of one region; beyond, the oldest is dropped and its races missed */
};

struct touch {
    struct races_actor *actor; /* a reference */
    struct timeline_when when;
    enum races_mode mode;
    struct races_set set;
    uint64_t known; /* timeline_host_steps when the host was first seen to know of it; 0: it was not
                     */
};

/* An entry of a place. The bounds of the touch's set are kept here as well: most touches of a large
 * region are disjoint, and a search then reads nothing else. */
struct entry {
    struct races_range bounds;
    struct touch *touch; /* owned */
};

/* The touches of one region that a later one may still be unordered against, oldest first. */
struct place {
    uint64_t memory;
    struct entry *entries;
    size_t count, room;
    size_t crowded;  /* number of touches at which old ones are dropped */
    size_t searches; /* since that was tried ... */
    size_t patience; /* ... and how many until it is tried again */
    bool converses;  /* somebody who does has touched it */
    struct place *next;
};

struct races {
    struct timeline *timeline;
    void (*report)(void *user, const struct races_found *found);
    void *user;
    struct place *buckets[BUCKETS];
};

/* Indexed by two modes: do two touches of these modes race when nothing orders them? */
static const bool conflict[4][4] = {
    [RACES_READ] = {[RACES_WRITE] = true, [RACES_ATOMIC] = true, [RACES_FREE] = true},
    [RACES_WRITE] = {true, true, true, true},
    [RACES_ATOMIC] = {[RACES_READ] = true, [RACES_WRITE] = true, [RACES_FREE] = true},
    [RACES_FREE] = {true, true, true, true},
};

/* stands_for[a][b]: every mode that conflicts with b conflicts with a as well. */
static const bool stands_for[4][4] = {
    [RACES_READ] = {[RACES_READ] = true},
    [RACES_WRITE] = {true, true, true, false},
    [RACES_ATOMIC] = {[RACES_ATOMIC] = true},
    [RACES_FREE] = {true, true, true, true},
};

void races_actor_release(struct races_actor *actor)
{
    if (actor == NULL || --actor->references > 0) return;
    free(actor->sites);
    actor->release(actor);
}

static void touch_end(struct touch *touch)
{
    races_actor_release(touch->actor);
    races_set_free(&touch->set);
    free(touch);
}

struct races *races_create(struct timeline *timeline,
                           void (*report)(void *user, const struct races_found *found), void *user)
{
    struct races *races = calloc(1, sizeof *races);
    if (races == NULL) return NULL;
    races->timeline = timeline;
    races->report = report;
    races->user = user;
    return races;
}

static struct place **place_link(struct races *races, uint64_t memory)
{
    struct place **link = &races->buckets[memory % BUCKETS];
    while (*link != NULL && (*link)->memory != memory) link = &(*link)->next;
    return link;
}

static void place_end(struct place **link)
{
    struct place *place = *link;
    *link = place->next;
    for (size_t i = 0; i < place->count; i++) touch_end(place->entries[i].touch);
    free(place->entries);
    free(place);
}

void races_destroy(struct races *races)
{
    if (races == NULL) return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (races->buckets[i] != NULL) place_end(&races->buckets[i]);
    free(races);
}

void races_forget(struct races *races, uint64_t memory)
{
    struct place **link = place_link(races, memory);
    if (*link != NULL) place_end(link);
}

/* ---- keeping touches ------------------------------------------------------------------------- */

/* Drops the touches for which `drop` returns true. */
static void place_sweep(struct place *place, bool (*drop)(void *user, struct touch *touch),
                        void *user)
{
    size_t kept = 0;
    for (size_t i = 0; i < place->count; i++) {
        if (drop(user, place->entries[i].touch))
            touch_end(place->entries[i].touch);
        else
            place->entries[kept++] = place->entries[i];
    }
    place->count = kept;
}

/* Returns the index of the first entry from `at` on whose bounds overlap with those of `set`, or
 * the number of entries. */
static size_t place_next(const struct place *place, size_t at, const struct races_set *set)
{
    while (at < place->count && !races_range_overlap(&place->entries[at].bounds, &set->bounds))
        at++;
    return at;
}

/* True when everything that has yet to run happens after the touch. */
static bool is_past(void *user, struct touch *touch)
{
    const struct timeline *timeline = user;
    if (touch->known == 0 && timeline_host_knows(timeline, touch->when, TIMELINE_PROMISED))
        touch->known = timeline_host_steps(timeline);
    return touch->known != 0 && timeline_all_since(timeline, touch->known);
}

static bool ordered_before(const struct timeline *timeline, const struct touch *touch,
                           const struct timeline_op *op, enum timeline_sense sense)
{
    return op != NULL ? timeline_happens_before(touch->when, op, sense)
                      : timeline_host_knows(timeline, touch->when, sense);
}

/* Returns whether `actor` is known to race with nobody, but for a few. */
static bool is_open(const struct races_actor *actor)
{
    return actor->for_host || actor->for_atomics;
}

/* Returns whether all that may race with `actor` may race with `by` as well. */
static bool is_as_open(const struct races_actor *actor, const struct races_actor *by)
{
    return !is_open(by) ||
           (actor->for_host == by->for_host && actor->for_atomics == by->for_atomics);
}

/* True when the new touch replaces this older one: it happens after the older touch, contains its
 * bytes, and conflicts with everything that the older one conflicts with. Whatever is unordered
 * against the older touch is then unordered against the new one, too. */
static bool is_covered(const struct timeline *timeline, const struct touch *touch,
                       const struct touch *by, const struct timeline_op *op)
{
    return stands_for[by->mode][touch->mode] && is_as_open(touch->actor, by->actor) &&
           (touch->actor->converses || !by->actor->converses) &&
           ordered_before(timeline, touch, op, TIMELINE_PROMISED) &&
           races_set_covers(&by->set, &touch->set);
}

static bool is_oldest(void *user, struct touch *touch)
{
    return touch == user;
}

/* Drops old touches, and then leaves those that are left alone for longer if they are many. */
static void drop_past(struct races *races, struct place *place)
{
    const size_t before = place->count;
    place_sweep(place, is_past, races->timeline);
    place->crowded = place->count * 2 > CROWDED ? place->count * 2 : CROWDED;
    place->patience = place->count * 2 > before ? 2 * place->patience : PATIENCE;
    place->searches = 0;
}

static bool place_make_room(struct races *races, struct place *place)
{
    place->searches++;
    if (place->count >= place->crowded ||
        (place->count > CROWDED && place->searches > place->patience))
        drop_past(races, place);
    if (place->count == MOST) place_sweep(place, is_oldest, place->entries[0].touch);
    return array_grow(&place->entries, place->count, &place->room, sizeof *place->entries);
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Of the lines in device code that may have touched `byte`, returns the one with the narrowest
 * bounds. */
static const struct races_site *site_of(const struct touch *touch, uint64_t byte)
{
    const struct races_site *best = NULL;
    for (size_t i = 0; i < touch->actor->site_count; i++) {
        const struct races_site *site = &touch->actor->sites[i];
        if (site->mode != touch->mode || byte < site->bytes.first || byte >= site->bytes.end)
            continue;
        if (best == NULL ||
            site->bytes.end - site->bytes.first < best->bytes.end - best->bytes.first)
            best = site;
    }
    return best;
}

/* Returns whether the two are on different devices. */
static bool are_apart(const struct races_actor *one, const struct races_actor *other)
{
    return one->device != 0 && other->device != 0 && one->device != other->device;
}

/* Returns whether `earlier`, which ended before `later` did, could not have told it what it had
 * done: its fences hold for its own device. */
static bool is_untold(const struct races_actor *earlier, const struct races_actor *later)
{
    return earlier->converses && !earlier->orders_system && are_apart(earlier, later);
}

/* Returns whether both touches are atomic, but not for each other's device. */
static bool is_narrow(const struct touch *one, const struct touch *other)
{
    return one->mode == RACES_ATOMIC && other->mode == RACES_ATOMIC &&
           are_apart(one->actor, other->actor) &&
           (one->actor->is_page_locked ||
            !(one->actor->counts_system && other->actor->counts_system));
}

/* Returns whether one of two touches may tell the other something. */
static bool is_talk(enum races_mode of, const struct touch *touch)
{
    return conflict[of][touch->mode] ||
           (of == RACES_ATOMIC && touch->mode == RACES_ATOMIC && touch->actor->tells);
}

/* Returns whether the touch may be one half of a talk with `one`. Only bounds are compared, so that
 * it is rather taken for a talk than for a race. A kernel that does not converse reads plainly,
 * which tells it nothing; a copy, or the host, may well read what it is told by. What a copy
 * writes tells nothing to atomics whose results decide nothing, and learns nothing from them. */
static bool may_hear(const struct races_actor *one, const struct touch *touch)
{
    const struct races_actor *by = touch->actor;
    const bool only_tells = touch->mode == RACES_WRITE && by->site_count == 0 && !by->is_host;
    if (touch->mode == RACES_READ && by->site_count > 0 && !by->converses) return false;
    for (size_t i = 0; one->converses && touch->mode != RACES_FREE && i < one->site_count; i++) {
        const struct races_site *site = &one->sites[i];
        if (site->strong && !(only_tells && site->deaf) && is_talk(site->mode, touch) &&
            races_range_overlap(&site->bytes, &touch->set.bounds))
            return true;
    }
    return false;
}

/* Lets `op` follow everything if it may have talked with the actor of an earlier touch, unless that
 * happens before it anyway. */
static void look_for_talk(const struct races *races, const struct place *place,
                          const struct touch *touch, struct timeline_op *op)
{
    for (size_t i = 0; (i = place_next(place, i, &touch->set)) < place->count; i++) {
        const struct touch *other = place->entries[i].touch;
        if (is_narrow(touch, other) || is_untold(other->actor, touch->actor)) continue;
        if (is_open(other->actor)) continue;
        if (!may_hear(other->actor, touch) && !may_hear(touch->actor, other)) continue;
        if (ordered_before(races->timeline, other, op, TIMELINE_PROMISED)) continue;
        timeline_op_follows_all(op);
        return;
    }
}

void races_meet(struct races *races, struct timeline_op *op, const struct races_actor *actor,
                uint64_t memory)
{
    const struct place *place = *place_link(races, memory);
    for (size_t i = 0; place != NULL && i < actor->site_count; i++) {
        const struct races_site *site = &actor->sites[i];
        const struct touch touch = {.actor = (struct races_actor *)actor,
                                    .mode = site->mode,
                                    .set = {.bounds = site->bytes}};
        if (site->strong) look_for_talk(races, place, &touch, op);
    }
}

/* Returns whether one of the two is open, and the other is not one of its few. */
static bool is_private(const struct touch *one, const struct touch *other)
{
    if ((one->actor->for_atomics || other->actor->for_atomics) && !is_narrow(one, other))
        return true;
    return (one->actor->for_host && !other->actor->is_host) ||
           (other->actor->for_host && !one->actor->is_host);
}

/* Returns how many bytes both touched, and the first of them, when the order of the two touches
 * matters; otherwise 0. `one` is the earlier. */
static uint64_t common_bytes(const struct touch *one, const struct touch *other, uint64_t *first)
{
    if (one->actor == other->actor || is_private(one, other)) return 0;
    if (is_narrow(one, other)) return races_set_common(&one->set, &other->set, first);
    if (!conflict[one->mode][other->mode]) return 0;
    if (one->actor->converses && other->actor->converses && !is_untold(one->actor, other->actor))
        return 0;
    if (may_hear(one->actor, other) || may_hear(other->actor, one)) return 0;
    return races_set_common(&one->set, &other->set, first);
}

/* Reports the first earlier touch that not even the behaviour of GPUs orders before the new one.
 * When there is none, reports as advice the first that no documentation orders before it. */
static void look_for_race(struct races *races, const struct place *place, const struct touch *touch,
                          struct timeline_op *op)
{
    struct races_found found = {.memory = place->memory};
    if (op != NULL && (place->converses || touch->actor->converses))
        look_for_talk(races, place, touch, op);
    for (size_t i = 0; (i = place_next(place, i, &touch->set)) < place->count; i++) {
        const struct touch *other = place->entries[i].touch;
        uint64_t first = 0;
        if (ordered_before(races->timeline, other, op, TIMELINE_PROMISED)) continue;
        const bool is_advice = ordered_before(races->timeline, other, op, TIMELINE_ON_GPUS);
        if (is_advice && found.bytes > 0) continue;
        const uint64_t bytes = common_bytes(other, touch, &first);
        if (bytes == 0) continue;
        found.first = (struct races_side){other->actor, other->mode, site_of(other, first)};
        found.second = (struct races_side){touch->actor, touch->mode, site_of(touch, first)};
        found.offset = first;
        found.bytes = bytes;
        found.is_advice = is_advice;
        found.is_narrow =
            is_narrow(other, touch) || (other->actor->converses && touch->actor->converses);
        if (!is_advice) break;
    }
    if (found.bytes > 0) races->report(races->user, &found);
}

void races_look(struct races *races, struct timeline_when beside, struct races_actor *actor,
                uint64_t memory, enum races_mode mode, struct races_set *set)
{
    const struct place *place = *place_link(races, memory);
    struct touch touch = {.actor = actor, .mode = mode, .set = *set};
    *set = (struct races_set){0};
    for (size_t i = 0; place != NULL && i < place->count; i++) {
        const struct touch *other = place->entries[i].touch;
        struct races_found found = {.memory = memory, .is_early = true};
        if (other->when.track != beside.track || other->when.sequence != beside.sequence) continue;
        found.bytes = common_bytes(other, &touch, &found.offset);
        if (found.bytes == 0) continue;
        found.first = (struct races_side){other->actor, other->mode, site_of(other, found.offset)};
        found.second = (struct races_side){actor, mode, site_of(&touch, found.offset)};
        races->report(races->user, &found);
        break;
    }
    races_set_free(&touch.set);
}

/* Drops the touches that the new one replaces. */
static void drop_covered(struct races *races, struct place *place, const struct touch *by,
                         const struct timeline_op *op)
{
    size_t i = place_next(place, 0, &by->set), kept = i;
    for (; i < place->count; i++) {
        struct entry *entry = &place->entries[i];
        if (races_range_overlap(&entry->bounds, &by->set.bounds) &&
            is_covered(races->timeline, entry->touch, by, op))
            touch_end(entry->touch);
        else
            place->entries[kept++] = *entry;
    }
    place->count = kept;
}

void races_touch(struct races *races, struct timeline_op *op, struct races_actor *actor,
                 uint64_t memory, enum races_mode mode, struct races_set *set)
{
    struct place **link = place_link(races, memory);
    struct touch *touch = malloc(sizeof *touch),
                 touching = {.actor = actor, .mode = mode, .set = *set};
    *set = (struct races_set){0};
    if (touch == NULL || races_set_empty(&touching.set)) goto drop;
    if (*link == NULL) {
        *link = calloc(1, sizeof **link);
        if (*link == NULL) goto drop;
        (*link)->memory = memory;
        (*link)->crowded = CROWDED;
        (*link)->patience = PATIENCE;
    }
    look_for_race(races, *link, &touching, op);
    touching.when = op != NULL ? timeline_op_when(op) : timeline_host_when(races->timeline);
    drop_covered(races, *link, &touching, op);
    if (!place_make_room(races, *link)) goto drop;
    actor->references++;
    (*link)->converses |= actor->converses;
    *touch = touching;
    (*link)->entries[(*link)->count++] = (struct entry){touch->set.bounds, touch};
    return;
drop: /* without memory the touch is not recorded, and races with it are missed */
    races_set_free(&touching.set);
    free(touch);
}
