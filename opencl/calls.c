/* The functions that are only forwarded, one per row in functions.def. */
#include "opencl/inside.h"

#include <string.h>

#define FORWARD(name, of, parameters, arguments)                                                   \
    EXPORT cl_int name parameters;                                                                 \
    EXPORT cl_int name parameters                                                                  \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, ROW_##name, CALLER, of)) return call_end(&call, call.code);         \
        return call_end(&call, REAL(name) arguments);                                              \
    }
#define CALL(name, error_code, as_if, parameters, arguments)                                       \
    FORWARD(name, NULL, parameters, arguments)
#define OF(name, kind, error_code, as_if, parameters, arguments)                                   \
    FORWARD(name, handle, parameters, arguments)
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
        object_ask_name(object);                                                                   \
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
        const cl_int code = REAL(name)(handle);                                                    \
        return call_end(&call, call_released(&call, code));                                        \
    }
#define OWN(name, kind, error_code, as_if)
#include "opencl/functions.def"
