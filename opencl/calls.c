/* The functions that are forwarded as they are, each from its row in functions.def. */
#include "opencl/inside.h"

#include <string.h>

/* The handle of an event that was waited for, by whoever made it. */
static void note_kernel(struct object *object, const char *name)
{
    if (object != NULL && name != NULL) trace_copy_string(object->name, sizeof object->name, name);
}

/* Which of two parameters names the new object: only a kernel has a name. */
#define NAME_clCreateProgramWithSource NULL
#define NAME_clCreateKernel name

#define CALL(name, error_code, as_if, parameters, arguments)                                       \
    EXPORT cl_int name parameters;                                                                 \
    EXPORT cl_int name parameters                                                                  \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, ROW_##name, CALLER, NULL)) return call_end(&call, call.code);       \
        return call_end(&call, REAL(name) arguments);                                              \
    }
#define OF(name, kind, error_code, as_if, parameters, arguments)                                   \
    EXPORT cl_int name parameters;                                                                 \
    EXPORT cl_int name parameters                                                                  \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, ROW_##name, CALLER, handle)) return call_end(&call, call.code);     \
        return call_end(&call, REAL(name) arguments);                                              \
    }
#define MAKE(function, made_kind, kind, error_code, as_if, parameters, arguments)                  \
    EXPORT cl_handle function parameters;                                                          \
    EXPORT cl_handle function parameters                                                           \
    {                                                                                              \
        struct call call;                                                                          \
        cl_int *const wanted = error, code;                                                        \
        if (!call_begin(&call, ROW_##function, CALLER, handle))                                    \
            return call_end_made(&call, call.code, wanted), NULL;                                  \
        error = &code;                                                                             \
        cl_handle made = REAL(function) arguments;                                                 \
        const struct object *from = object_find(handle, KIND_##kind);                              \
        struct object *object = made == NULL ? NULL                                                \
                                             : object_add(made, KIND_##made_kind,                  \
                                                          from != NULL && from->context != NULL    \
                                                              ? from->context                      \
                                                              : object_find(handle, KIND_CONTEXT), \
                                                          &call, 0);                               \
        note_kernel(object, NAME_##function);                                                      \
        call_end_made(&call, code, wanted);                                                        \
        return made;                                                                               \
    }
#define RETAIN(name, kind)                                                                         \
    EXPORT cl_int name(cl_handle handle);                                                          \
    EXPORT cl_int name(cl_handle handle)                                                           \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, ROW_##name, CALLER, handle)) return call_end(&call, call.code);     \
        object_retain(object_find(handle, KIND_##kind));                                           \
        return call_end(&call, REAL(name)(handle));                                                \
    }
#define RELEASE(name, kind)                                                                        \
    EXPORT cl_int name(cl_handle handle);                                                          \
    EXPORT cl_int name(cl_handle handle)                                                           \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, ROW_##name, CALLER, handle)) return call_end(&call, call.code);     \
        struct object *object = object_find(handle, KIND_##kind);                                  \
        if (KIND_##kind == KIND_BUFFER && object->references == 1) buffer_check(object);           \
        object_release(object, call.caller);                                                       \
        return call_end(&call, REAL(name)(handle));                                                \
    }
#define OWN(name, kind, error_code, as_if)
#include "opencl/functions.def"
