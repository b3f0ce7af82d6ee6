/* User objects: objects of the submission that are destroyed when the last graph that uses them
 * ends. */
#include "emulator/driver/graph/parts.h"

#include "emulator/driver/findings/handle.h"

#include <stdlib.h>

struct user_object {
    struct object object;
    struct job *destroy; /* the call of the destructor, made beforehand so that it cannot fail */
    unsigned references;
};

/* Drops a reference. After the last one the submission's destructor is called soon, in the thread
 * of host functions; it must not call CUDA. */
void user_object_release(struct user_object *user)
{
    if (--user->references > 0) return;
    object_remove(&user->object);
    host_function_call(user->destroy);
    object_free(&user->object);
}

/* Drops `count` references; there must be at least as many. */
static void release(struct user_object *user, unsigned count)
{
    if (count == 0) return;
    user->references -= count - 1;
    user_object_release(user);
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
    if (initialRefcount == 0 || initialRefcount > INT32_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
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
    to->users = calloc(from->user_count, sizeof(struct user_object *));
    if (to->users == NULL) return false;
    for (size_t i = 0; i < from->user_count; i++) {
        to->users[to->user_count++] = from->users[i];
        from->users[i]->references++;
    }
    return true;
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
    struct user_object **users =
        reallocarray(found->users, found->user_count + count, sizeof(struct user_object *));
    if (users == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    found->users = users;
    for (unsigned i = 0; i < count; i++) users[found->user_count++] = user;
    if (!move) user->references += count;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    struct graph *found;
    struct user_object *user;
    size_t held = 0;
    TRY(graph_find(graph, &found));
    TRY(user_find(object, count, &user));
    for (size_t i = 0; i < found->user_count; i++) held += found->users[i] == user;
    if (held < count) return CUDA_ERROR_INVALID_VALUE;
    held = 0;
    for (size_t i = found->user_count; i-- > 0 && held < count;) {
        if (found->users[i] != user) continue;
        found->users[i] = found->users[--found->user_count];
        held++;
    }
    release(user, count);
    return CUDA_SUCCESS;
}
