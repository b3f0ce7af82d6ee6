#include "grader/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define MOST_THREADS 16

struct share {
    void (*work)(void *user, size_t index);
    void *user;
    size_t count;
    atomic_size_t next;
};

size_t parallel_processors(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 1) return 1;
    return (size_t)CPU_COUNT(&allowed);
}

void parallel_take_share(size_t n, size_t count)
{
    cpu_set_t all, share;
    size_t seen = 0, processors;

    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    processors = (size_t)CPU_COUNT(&all);
    CPU_ZERO(&share);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &all)) continue;
        if (count <= processors ? seen % count == n : seen == n % processors) CPU_SET(i, &share);
        seen++;
    }
    if (CPU_COUNT(&share) > 0) sched_setaffinity(0, sizeof share, &share);
}

static void *take_part(void *user)
{
    struct share *share = user;
    size_t i;
    while ((i = atomic_fetch_add(&share->next, 1)) < share->count) share->work(share->user, i);
    return NULL;
}

void parallel_each(size_t count, void (*work)(void *user, size_t index), void *user)
{
    struct share share = {.work = work, .user = user, .count = count};
    pthread_t threads[MOST_THREADS];
    const size_t processors = parallel_processors();
    size_t begun = 0, most = processors < MOST_THREADS ? processors : MOST_THREADS;

    if (most > count) most = count;
    while (begun + 1 < most && pthread_create(&threads[begun], NULL, take_part, &share) == 0)
        begun++;
    take_part(&share);
    for (size_t i = 0; i < begun; i++) pthread_join(threads[i], NULL);
}
