/* exec_owners: which block of a grid has touched each byte of an allocation, by loads, by stores
 * and by atomics. It draws no conclusions: check/grid_shadow.h does. Private to emulator/exec.
 *
 * Usually a warp touches whole sectors that no other block touches. One byte holds the owner of
 * such a sector; only other sectors have an owner for each byte. So a kernel that writes rows fills
 * little of these tables, and the system need not clear the rest.
 *
 * Nothing is locked. Two workers may miss each other's marks, but never see one that is not there.
 */
#ifndef OVERLAP_EXEC_CHECK_OWNERS_H
#define OVERLAP_EXEC_CHECK_OWNERS_H

#include "emulator/exec/check/footprint.h"

#include <string.h>

/* Owners are numbers from 1 on; 0: no owner. */
enum { EXEC_OWNERS = 254, EXEC_OWNED_BY_MANY = 255 };
/* Bytes of a sector, and the value that stands for a sector whose bytes have their own owners. */
enum { EXEC_OWNED_SECTOR = 32, EXEC_OWNED_APART = 255 };

#define EXEC_OWNER_RACES __attribute__((no_sanitize("thread")))

struct exec_owners {
    unsigned seen; /* bitmap of the kinds of access so far */
    /* Tables by access, in the same piece of memory; NULL: not wanted. */
    uint8_t *sectors[EXEC_ACCESS_COUNT];
    uint8_t *bytes[EXEC_ACCESS_COUNT]; /* only for sectors that are EXEC_OWNED_APART */
    uint64_t taken;                    /* size of that piece of memory */
};

/* For an allocation of `size` bytes, without owners at first. `maps` false: only `seen` is kept.
 * Returns NULL without memory. */
struct exec_owners *exec_owners_create(uint64_t size, bool maps);
/* `touched`: how many bytes of the allocation may have been touched. */
void exec_owners_destroy(struct exec_owners *owners, uint64_t touched); /* NULL is fine */

static inline uint8_t exec_owner_of(uint64_t block)
{
    return (uint8_t)(block % EXEC_OWNERS + 1);
}

static inline bool exec_owners_seen(const struct exec_owners *owners, enum exec_access access)
{
    return __atomic_load_n(&owners->seen, __ATOMIC_RELAXED) >> access & 1;
}

static inline void exec_owners_see(struct exec_owners *owners, enum exec_access access)
{
    if (!exec_owners_seen(owners, access))
        __atomic_fetch_or(&owners->seen, 1u << access, __ATOMIC_RELAXED);
}

/* ---- any bytes, a sector at a time ------------------------------------------------------------
 *
 * Defined here so that machine code has copies of its own. Not inlined, because these functions are
 * long; a file may leave some of them unused. */

#define EXEC_OWNERS_SLOW EXEC_OWNER_RACES static __attribute__((noinline, unused))

static inline bool exec_owner_is_stranger(uint8_t owner, uint8_t me)
{
    return owner != 0 && owner != me;
}

/* Returns how many of `bytes` bytes from `offset` on are in the first one's sector. */
static inline uint32_t exec_owners_in_sector(uint64_t offset, uint32_t bytes)
{
    const uint32_t left = EXEC_OWNED_SECTOR - (uint32_t)(offset % EXEC_OWNED_SECTOR);
    return left < bytes ? left : bytes;
}

/* Returns the index of the first of `bytes` bytes from `offset` on that a block other than `me` has
 * touched with `access`, or `bytes` if there is none. */
EXEC_OWNERS_SLOW uint32_t exec_owners_stranger(const struct exec_owners *owners,
                                               enum exec_access access, uint64_t offset,
                                               uint32_t bytes, uint8_t me)
{
    const uint8_t *sectors = owners->sectors[access], *apart = owners->bytes[access];
    for (uint32_t at = 0, here; at < bytes; at += here) {
        const uint8_t owner = sectors[(offset + at) / EXEC_OWNED_SECTOR];
        here = exec_owners_in_sector(offset + at, bytes - at);
        if (owner != EXEC_OWNED_APART && exec_owner_is_stranger(owner, me)) return at;
        if (owner != EXEC_OWNED_APART) continue;
        for (uint32_t k = 0; k < here; k++)
            if (exec_owner_is_stranger(apart[offset + at + k], me)) return at + k;
    }
    return bytes;
}

/* Adds `me` as an owner of bytes in a sector that is EXEC_OWNED_APART. Usually there are four
 * bytes, of one owner or of many. */
EXEC_OWNER_RACES static inline void exec_owners_add_apart(uint8_t *owners, uint32_t bytes,
                                                          uint8_t me)
{
    const uint32_t mine = me * UINT32_C(0x01010101), many = UINT32_MAX;
    uint32_t before = 1;
    if (bytes == sizeof before) memcpy(&before, owners, sizeof before);
    if (bytes == sizeof before && (before == mine || before == many)) return;
    if (bytes == sizeof before && before == 0) {
        memcpy(owners, &mine, sizeof mine);
        return;
    }
    for (uint32_t i = 0; i < bytes; i++)
        owners[i] = exec_owner_is_stranger(owners[i], me) ? (uint8_t)EXEC_OWNED_BY_MANY : me;
}

/* Makes `me` the owner of the bytes, or EXEC_OWNED_BY_MANY if there is another. */
EXEC_OWNERS_SLOW void exec_owners_add(struct exec_owners *owners, enum exec_access access,
                                      uint64_t offset, uint32_t bytes, uint8_t me)
{
    uint8_t *apart = owners->bytes[access];
    for (uint32_t here; bytes > 0; offset += here, bytes -= here) {
        const uint64_t first = offset / EXEC_OWNED_SECTOR * EXEC_OWNED_SECTOR;
        uint8_t *sector = &owners->sectors[access][offset / EXEC_OWNED_SECTOR];
        here = exec_owners_in_sector(offset, bytes);
        if (*sector == me) continue;
        if (*sector == 0 && here == EXEC_OWNED_SECTOR) {
            *sector = me;
            continue;
        }
        if (*sector != EXEC_OWNED_APART) {
            /* Also of zeros: a page that is read before it is written faults twice. */
            memset(&apart[first], *sector, EXEC_OWNED_SECTOR);
            *sector = EXEC_OWNED_APART;
        }
        exec_owners_add_apart(&apart[offset], here, me);
    }
}

/* ---- some bytes of one sector, all at once ----------------------------------------------------
 */

/* 0xff for each of a sector's bytes that is meant. */
struct exec_owned_some {
    uint8_t bytes[EXEC_OWNED_SECTOR];
};
/* A part of a sector's bytes: what every host compares at once. Of longer vectors gcc makes bytes
 * where the host has no such instruction. */
typedef uint8_t exec_owned __attribute__((vector_size(16), aligned(1)));
enum { EXEC_OWNED_PARTS = EXEC_OWNED_SECTOR / sizeof(exec_owned) };

static inline bool exec_owned_any(const exec_owned *bytes)
{
    uint64_t halves[2];
    memcpy(halves, bytes, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

/* Returns 0xff for each byte that has an owner other than `me`. */
static inline exec_owned exec_owned_strange(exec_owned of, uint8_t me)
{
    return ~((exec_owned)(of == 0) | (exec_owned)(of == me));
}

/* Returns true if no block but `me` has touched these bytes of the sector at `offset`. */
EXEC_OWNER_RACES static inline bool exec_owners_some_free(const struct exec_owners *owners,
                                                          enum exec_access access, uint64_t offset,
                                                          const struct exec_owned_some *some,
                                                          uint8_t me)
{
    const uint8_t owner = owners->sectors[access][offset / EXEC_OWNED_SECTOR];
    if (owner != EXEC_OWNED_APART) return !exec_owner_is_stranger(owner, me);
    const exec_owned *of = (const exec_owned *)(owners->bytes[access] + offset);
    const exec_owned *mine = (const exec_owned *)some->bytes;
    exec_owned strange = {0};
    for (unsigned k = 0; k < EXEC_OWNED_PARTS; k++)
        strange |= exec_owned_strange(of[k], me) & mine[k];
    return !exec_owned_any(&strange);
}

static inline bool exec_owned_all(const struct exec_owned_some *some)
{
    const exec_owned *mine = (const exec_owned *)some->bytes;
    exec_owned others = {0};
    for (unsigned k = 0; k < EXEC_OWNED_PARTS; k++) others |= ~mine[k];
    return !exec_owned_any(&others);
}

/* Makes `me` their owner, or EXEC_OWNED_BY_MANY of those that have another. */
EXEC_OWNER_RACES static inline void exec_owners_own_some(struct exec_owners *owners,
                                                         enum exec_access access, uint64_t offset,
                                                         const struct exec_owned_some *some,
                                                         uint8_t me)
{
    uint8_t *sector = &owners->sectors[access][offset / EXEC_OWNED_SECTOR];
    exec_owned *apart = (exec_owned *)(owners->bytes[access] + offset);
    const exec_owned *mine = (const exec_owned *)some->bytes;
    if (*sector == me) return;
    if (*sector == 0 && exec_owned_all(some)) {
        *sector = me;
        return;
    }
    if (*sector != EXEC_OWNED_APART) {
        memset(apart, *sector, EXEC_OWNED_SECTOR);
        *sector = EXEC_OWNED_APART;
    }
    for (unsigned k = 0; k < EXEC_OWNED_PARTS; k++) {
        const exec_owned strange = exec_owned_strange(apart[k], me);
        const exec_owned new = (strange & EXEC_OWNED_BY_MANY) | (~strange & me);
        apart[k] = (apart[k] & ~mine[k]) | (new &mine[k]);
    }
}

/* ---- fast path: whole sectors without another owner ------------------------------------------ */

EXEC_OWNER_RACES static inline bool exec_owners_are_whole(const uint8_t *sectors, uint64_t offset,
                                                          uint32_t bytes, uint8_t me)
{
    enum { AT_ONCE = sizeof(uint32_t) };
    const uint8_t *owners = sectors + offset / EXEC_OWNED_SECTOR;
    const uint32_t count = bytes / EXEC_OWNED_SECTOR, mine = me * UINT32_C(0x01010101);
    bool strange = false;
    uint32_t k = 0;
    if (((offset | bytes) & (EXEC_OWNED_SECTOR - 1)) != 0) return false;
    for (; k + AT_ONCE <= count; k += AT_ONCE) { /* four sectors: of nobody, or all of `me` */
        uint32_t some;
        memcpy(&some, owners + k, sizeof some);
        strange |= (some != 0) & (some != mine);
    }
    for (; k < count; k++) strange |= exec_owner_is_stranger(owners[k], me);
    return !strange;
}

static inline bool exec_owners_free(const struct exec_owners *owners, enum exec_access access,
                                    uint64_t offset, uint32_t bytes, uint8_t me)
{
    return exec_owners_are_whole(owners->sectors[access], offset, bytes, me) ||
           exec_owners_stranger(owners, access, offset, bytes, me) == bytes;
}

EXEC_OWNER_RACES static inline void exec_owners_own(struct exec_owners *owners,
                                                    enum exec_access access, uint64_t offset,
                                                    uint32_t bytes, uint8_t me)
{
    if (!exec_owners_are_whole(owners->sectors[access], offset, bytes, me)) {
        exec_owners_add(owners, access, offset, bytes, me);
        return;
    }
    for (uint32_t k = 0; k < bytes / EXEC_OWNED_SECTOR; k++)
        owners->sectors[access][offset / EXEC_OWNED_SECTOR + k] = me;
}

#endif
