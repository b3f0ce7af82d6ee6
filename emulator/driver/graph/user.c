/* User objects: objects of the submission that are destroyed when the last graph that uses them
 * ends. */
#include "emulator/driver/graph/parts.h"

#include "emulator/driver/findings/handle.h"

#include <stdlib.h>

struct user_object {
    struct object object;
    struct job *destroy; /* the call of the destructor, made beforehand so that it cannot fail */
    uint64_t references;
};

/* Drops `count` references; there must be at least as many. After the last one the submission's
 * destructor is called soon, in the thread of host functions; it must not call CUDA. */
static void release(struct user_object *user, uint64_t count)
{
    user->references -= count;
    if (user->references > 0) return;
    object_remove(&user->object);
    host_function_call(user->destroy);
    object_free(&user->object);
}

static CUresult user_find(CUuserObject handle, unsigned count, struct user_object **user)
{
    *user = object_find(handle, OBJECT_USER);
    return *user != NULL && count > 0 && count <= INT32_MAX ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                                   unsigned int initialRefcount, unsigned int flags)
{
    NEED_POINTER(object_out);
    NEED_POINTER(destroy);
    if (initialRefcount == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct user_object *user = calloc(1, sizeof *user);
    if (user == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    user->destroy = host_function_prepare(destroy, ptr);
    if (user->destroy == NULL) {
        free(user);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    user->references = initialRefcount;
    object_add(&user->object, OBJECT_USER);
    *object_out = (CUuserObject)user;
    return CUDA_SUCCESS;
}

CUresult driver_cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    struct user_object *user;
    TRY(user_find(object, count, &user));
    user->references += count;
    return CUDA_SUCCESS;
}

CUresult driver_cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    struct user_object *user;
    TRY(user_find(object, count, &user));
    if (count > user->references) return CUDA_ERROR_INVALID_VALUE;
    release(user, count);
    return CUDA_SUCCESS;
}

bool user_objects_share(const struct graph *from, struct graph *to)
{
    if (from->user_count == 0) return true;
    to->users = calloc(from->user_count, sizeof *to->users);
    if (to->users == NULL) return false;
    for (size_t i = 0; i < from->user_count; i++) {
        to->users[to->user_count++] = from->users[i];
        from->users[i].user->references += from->users[i].references;
    }
    return true;
}

void user_objects_release(struct graph *graph)
{
    for (size_t i = 0; i < graph->user_count; i++)
        release(graph->users[i].user, graph->users[i].references);
    free(graph->users);
    graph->users = NULL;
    graph->user_count = 0;
}

bool user_objects_replace(struct graph *graph, const struct graph *by)
{
    struct graph old = {.users = graph->users, .user_count = graph->user_count};
    graph->users = NULL;
    graph->user_count = 0;
    const bool shared = user_objects_share(by, graph);
    user_objects_release(&old); /* only now: an object may be of both */
    return shared;
}

/* Returns what the graph holds of the user object; NULL: nothing. */
static struct user_hold *hold_find(const struct graph *graph, const struct user_object *user)
{
    for (size_t i = 0; i < graph->user_count; i++)
        if (graph->users[i].user == user) return &graph->users[i];
    return NULL;
}

static struct user_hold *hold_make(struct graph *graph, struct user_object *user)
{
    struct user_hold *users =
        reallocarray(graph->users, graph->user_count + 1, sizeof *graph->users);
    if (users == NULL) return NULL;
    graph->users = users;
    users[graph->user_count] = (struct user_hold){.user = user};
    return &users[graph->user_count++];
}

CUresult driver_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                        unsigned int flags)
{
    struct graph *found;
    struct user_object *user;
    TRY(graph_find(graph, &found));
    TRY(user_find(object, count, &user));
    if (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) return CUDA_ERROR_INVALID_VALUE;
    const bool move = flags & CU_GRAPH_USER_OBJECT_MOVE;
    if (move && count > user->references) return CUDA_ERROR_INVALID_VALUE;
    struct user_hold *hold = hold_find(found, user);
    if (hold == NULL) hold = hold_make(found, user);
    if (hold == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    hold->references += count;
    if (!move) user->references += count;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    struct graph *found;
    struct user_object *user;
    TRY(graph_find(graph, &found));
    TRY(user_find(object, count, &user));
    struct user_hold *hold = hold_find(found, user);
    if (hold == NULL || hold->references < count) return CUDA_ERROR_INVALID_VALUE;
    hold->references -= count;
    if (hold->references == 0) *hold = found->users[--found->user_count];
    release(user, count);
    return CUDA_SUCCESS;
}
