#include "recorder/objects.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 4096

struct entry {
    struct entry *next;
    struct object object;
};

static struct {
    pthread_mutex_t lock;
    struct entry *buckets[BUCKETS];
    uint64_t numbers; /* numbers given so far */
} objects = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct entry **bucket_of(uint64_t handle)
{
    return &objects.buckets[(handle * 0x9e3779b97f4a7c15u) >> 52];
}

uint64_t objects_add(const struct object *object)
{
    struct entry *entry = malloc(sizeof *entry);
    if (entry == NULL) return 0;
    pthread_mutex_lock(&objects.lock);
    struct entry **bucket = bucket_of(object->handle);
    entry->object = *object;
    if (entry->object.id == 0) entry->object.id = ++objects.numbers;
    entry->next = *bucket;
    *bucket = entry;
    uint64_t id = entry->object.id;
    pthread_mutex_unlock(&objects.lock);
    return id;
}

/* The link that points to the object, or to NULL at the end of its bucket. */
static struct entry **find(uint32_t what, uint64_t handle)
{
    struct entry **link = bucket_of(handle);
    while (*link != NULL &&
           ((*link)->object.handle != handle || (what != 0 && (*link)->object.what != what)))
        link = &(*link)->next;
    return link;
}

uint64_t objects_find(uint32_t what, uint64_t handle)
{
    pthread_mutex_lock(&objects.lock);
    struct entry *found = *find(what, handle);
    uint64_t id = found != NULL ? found->object.id : 0;
    pthread_mutex_unlock(&objects.lock);
    return id;
}

/* Unlinks and frees the entry; copies its object to *taken. */
static int take(struct entry **link, struct object *taken)
{
    struct entry *found = *link;
    if (found == NULL) return 0;
    *taken = found->object;
    *link = found->next;
    free(found);
    return 1;
}

int objects_take(uint32_t what, uint64_t handle, struct object *taken)
{
    pthread_mutex_lock(&objects.lock);
    int result = take(find(what, handle), taken);
    pthread_mutex_unlock(&objects.lock);
    return result;
}

int objects_take_of_context(uint64_t context, bool all, struct object *taken)
{
    int result = 0;

    pthread_mutex_lock(&objects.lock);
    for (size_t i = 0; i < BUCKETS && !result; i++) {
        struct entry **link = &objects.buckets[i];
        while (*link != NULL &&
               ((*link)->object.context != context || ((*link)->object.pooled && !all)))
            link = &(*link)->next;
        result = take(link, taken);
    }
    pthread_mutex_unlock(&objects.lock);
    return result;
}
