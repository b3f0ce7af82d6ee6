/* How far the subsequences of a generator have been drawn. */
#include <string.h>

#include "emulator/standins/curand/rand.h"

/* Makes a segment begin at subsequence `begin`; returns its index, or the number of segments for
 * the end of the last one. */
static uint32_t split(struct rand_place *place, uint32_t begin)
{
    uint32_t i = 0;
    while (i < place->segments && place->segment[i].begin < begin) i++;
    if (begin == place->sequences) return place->segments;
    if (i < place->segments && place->segment[i].begin == begin) return i;
    memmove(&place->segment[i + 1], &place->segment[i],
            (place->segments - i) * sizeof *place->segment);
    place->segment[i] = (struct rand_segment){.begin = begin, .draws = place->segment[i - 1].draws};
    place->segments++;
    return i;
}

static void merge(struct rand_place *place)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < place->segments; i++)
        if (place->segment[i].draws != place->segment[kept].draws)
            place->segment[++kept] = place->segment[i];
    place->segments = kept + 1;
}

/* Adds `draws` to the subsequences from `begin` to before `end`. */
static void add(struct rand_place *place, uint32_t begin, uint32_t end, uint64_t draws)
{
    if (begin == end) return;
    const uint32_t first = split(place, begin), behind = split(place, end);
    for (uint32_t i = first; i < behind; i++) place->segment[i].draws += draws;
    merge(place);
}

/* One segment that is as far as the furthest. */
static void level(struct rand_place *place)
{
    for (uint32_t i = 1; i < place->segments; i++)
        if (place->segment[i].draws > place->segment[0].draws)
            place->segment[0].draws = place->segment[i].draws;
    place->segments = 1;
}

void rand_place_set(struct rand_place *place, uint32_t sequences, uint32_t per_unit,
                    uint64_t offset)
{
    *place = (struct rand_place){.sequences = sequences, .segments = 1};
    rand_place_advance(place, offset / per_unit, per_unit);
    place->within = (uint32_t)(offset % per_unit);
}

void rand_place_advance(struct rand_place *place, uint64_t units, uint32_t draws)
{
    enum { MOST_NEW = 3 }; /* by the two ranges of a round that wraps */
    if (place->segments + MOST_NEW > RAND_MOST_SEGMENTS) level(place);
    const uint32_t rest = (uint32_t)(units % place->sequences);
    const uint32_t end = place->next + rest;
    add(place, 0, place->sequences, units / place->sequences * draws);
    if (end <= place->sequences) {
        add(place, place->next, end, draws);
    } else {
        add(place, place->next, place->sequences, draws);
        add(place, 0, end - place->sequences, draws);
    }
    place->next = end % place->sequences;
}
