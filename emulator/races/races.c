#include "emulator/races/races.h"
#include "emulator/base/array.h"

#include <stdlib.h>

enum {
    BUCKETS = 1024,
    CROWDED = 64, /* touches of one region before place_sweep first looks for old ones */
    MOST = 16384, /* touches of one region; beyond, the oldest is dropped and its races missed */
};

struct touch {
    struct races_actor *actor; /* a reference */
    struct timeline_when when;
    enum races_mode mode;
    struct races_set set;
};

/* The touches of one region that a later one may still be unordered against, oldest first. */
struct place {
    uint64_t memory;
    struct touch *touches;
    size_t count, room;
    size_t crowded; /* number of touches at which old ones are dropped */
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
    for (size_t i = 0; i < place->count; i++) touch_end(&place->touches[i]);
    free(place->touches);
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
static void place_sweep(struct place *place, bool (*drop)(void *user, const struct touch *touch),
                        void *user)
{
    size_t kept = 0;
    for (size_t i = 0; i < place->count; i++) {
        if (drop(user, &place->touches[i]))
            touch_end(&place->touches[i]);
        else
            place->touches[kept++] = place->touches[i];
    }
    place->count = kept;
}

/* True when everything that has yet to run happens after the touch. */
static bool is_past(void *user, const struct touch *touch)
{
    return timeline_all_follow(user, touch->when);
}

struct covering {
    const struct touch *by;
    const struct timeline_op *op; /* NULL: the host */
    const struct timeline *timeline;
};

static bool ordered_before(const struct timeline *timeline, const struct touch *touch,
                           const struct timeline_op *op, enum timeline_sense sense)
{
    return op != NULL ? timeline_happens_before(touch->when, op, sense)
                      : timeline_host_knows(timeline, touch->when, sense);
}

/* True when the new touch replaces this older one: it happens after the older touch, contains its
 * bytes, and conflicts with everything that the older one conflicts with. Whatever is unordered
 * against the older touch is then unordered against the new one, too. */
static bool is_covered(void *user, const struct touch *touch)
{
    const struct covering *covering = user;
    return stands_for[covering->by->mode][touch->mode] &&
           (touch->actor->converses || !covering->by->actor->converses) &&
           ordered_before(covering->timeline, touch, covering->op, TIMELINE_PROMISED) &&
           races_set_covers(&covering->by->set, &touch->set);
}

static bool is_oldest(void *user, const struct touch *touch)
{
    return touch == user;
}

static bool place_make_room(struct races *races, struct place *place)
{
    if (place->count >= place->crowded) {
        place_sweep(place, is_past, races->timeline);
        place->crowded = place->count * 2 > CROWDED ? place->count * 2 : CROWDED;
    }
    if (place->count == MOST) place_sweep(place, is_oldest, &place->touches[0]);
    return array_grow(&place->touches, place->count, &place->room, sizeof *place->touches);
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

/* Returns how many bytes both touched, and the first of them, when the order of the two touches
 * matters; otherwise 0. */
static uint64_t common_bytes(const struct touch *one, const struct touch *other, uint64_t *first)
{
    if (!conflict[one->mode][other->mode] || one->actor == other->actor) return 0;
    if (one->actor->converses && other->actor->converses) return 0;
    if (one->set.bounds.end <= other->set.bounds.first ||
        other->set.bounds.end <= one->set.bounds.first)
        return 0;
    return races_set_common(&one->set, &other->set, first);
}

/* Reports the first earlier touch that not even the behaviour of GPUs orders before the new one.
 * When there is none, reports as advice the first that no documentation orders before it. */
static void look_for_race(struct races *races, const struct place *place, const struct touch *touch,
                          const struct timeline_op *op)
{
    struct races_found found = {.memory = place->memory};
    for (size_t i = 0; i < place->count; i++) {
        const struct touch *other = &place->touches[i];
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
        const struct touch *other = &place->touches[i];
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

void races_touch(struct races *races, struct timeline_op *op, struct races_actor *actor,
                 uint64_t memory, enum races_mode mode, struct races_set *set)
{
    struct place **link = place_link(races, memory);
    struct touch touch = {.actor = actor, .mode = mode, .set = *set};
    *set = (struct races_set){0};
    if (races_set_empty(&touch.set)) goto drop;
    if (*link == NULL) {
        *link = calloc(1, sizeof **link);
        if (*link == NULL) goto drop;
        (*link)->memory = memory;
        (*link)->crowded = CROWDED;
    }
    look_for_race(races, *link, &touch, op);
    touch.when = op != NULL ? timeline_op_when(op) : timeline_host_when(races->timeline);
    place_sweep(*link, is_covered,
                &(struct covering){.by = &touch, .op = op, .timeline = races->timeline});
    if (!place_make_room(races, *link)) goto drop;
    actor->references++;
    (*link)->touches[(*link)->count++] = touch;
    return;
drop: /* without memory the touch is not recorded, and races with it are missed */
    races_set_free(&touch.set);
}
