#include "emulator/driver/work/staging.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    LARGE = 1 << 20, /* bytes: malloc handles smaller buffers well */
    HUGE = 2 << 20,  /* a huge page, where the kernel has them */
    KEPT = 64 << 20  /* largest buffer that is kept */
};

/* Header of a buffer; the bytes follow one cache line later. */
struct staging {
    size_t size;
};
enum { HEAD = 64 };

static struct staging *spare; /* atomic: the thread that takes it out owns it */

static struct staging *make(size_t size)
{
    const size_t all = (size + HEAD + HUGE - 1) / HUGE * HUGE;
    struct staging *made;
    if (size < LARGE) {
        made = aligned_alloc(HEAD, (size + 2 * HEAD - 1) / HEAD * HEAD);
        if (made != NULL) made->size = size;
        return made;
    }
    made = aligned_alloc(HUGE, all);
    if (made == NULL) return NULL;
    (void)!madvise(made, all, MADV_HUGEPAGE);
    made->size = all - HEAD;
    return made;
}

unsigned char *staging_take(size_t size)
{
    if (size > SIZE_MAX / 2) return NULL;
    struct staging *staging =
        size < LARGE ? NULL : __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);
    if (staging != NULL && staging->size < size) {
        free(staging);
        staging = NULL;
    }
    if (staging == NULL) staging = make(size);
    return staging != NULL ? (unsigned char *)staging + HEAD : NULL;
}

void staging_give(unsigned char *bytes)
{
    if (bytes == NULL) return;
    struct staging *staging = (struct staging *)(void *)(bytes - HEAD);
    if (staging->size >= LARGE && staging->size <= KEPT)
        staging = __atomic_exchange_n(&spare, staging, __ATOMIC_ACQ_REL);
    free(staging);
}
