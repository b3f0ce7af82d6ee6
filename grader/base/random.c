#include "grader/base/random.h"

#include <errno.h>
#include <sys/random.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_seed(struct random_source *source, uint64_t seed)
{
    for (int i = 0; i < 4; i++) source->state[i] = splitmix(&seed);
}

void random_derive(struct random_source *source, uint64_t seed, const char *label)
{
    uint64_t hash = 0xcbf29ce484222325u ^ seed;
    for (const char *c = label; *c != '\0'; c++) {
        hash ^= (unsigned char)*c;
        hash *= 0x100000001b3u;
        hash ^= splitmix(&hash);
    }
    random_seed(source, hash);
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t random_bits(struct random_source *source)
{
    uint64_t *s = source->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_below(struct random_source *source, uint64_t bound)
{
    /* Rejects values in the incomplete last interval, so that every result is equally likely. That
     * interval is shorter than the bound, so the division that finds its end is rarely needed. */
    uint64_t bits;
    do bits = random_bits(source);
    while (bits < bound && bits < (0 - bound) % bound);
    return bits % bound;
}

int64_t random_between(struct random_source *source, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t offset = span == 0 ? random_bits(source) : random_below(source, span);
    return (int64_t)((uint64_t)low + offset);
}

double random_real(struct random_source *source, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(source) >> 11) * 0x1p-53);
}

int random_secret(uint64_t *seed)
{
    ssize_t n;
    do n = getrandom(seed, sizeof *seed, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *seed ? 0 : -1;
}
