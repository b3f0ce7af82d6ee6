/* Interposes the C library's functions that pass a buffer of the program to the system. Memory that
 * a device protects while it is in use traps when the program accesses it, but a system call would
 * return EFAULT. So the registered callback is told of the buffer first. Only in the preloaded
 * library.
 */
#include "threads/parts.h"

#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

typedef void touch_buffer(const void *bytes, size_t size, bool is_filled, const void *caller);

static touch_buffer *told; /* NULL: no callback */

/* Found by name with dlsym (emulator/driver/findings/page_guard.c). */
THREADS_PUBLIC void overlap_watch_buffers(touch_buffer *touch);
THREADS_PUBLIC void overlap_watch_buffers(touch_buffer *touch)
{
    __atomic_store_n(&told, touch, __ATOMIC_RELEASE);
}

static void tell(const void *bytes, size_t size, bool is_filled, const void *caller)
{
    touch_buffer *touch = __atomic_load_n(&told, __ATOMIC_ACQUIRE);
    if (touch != NULL && size > 0) touch(bytes, size, is_filled, caller);
}

static void tell_parts(const struct iovec *parts, int count, bool is_filled, const void *caller)
{
    for (int i = 0; i < count; i++) tell(parts[i].iov_base, parts[i].iov_len, is_filled, caller);
}

#define STAND_IN(type, name, parameters, arguments, telling)                                       \
    THREADS_PUBLIC type name parameters;                                                           \
    THREADS_PUBLIC type name parameters                                                            \
    {                                                                                              \
        THREADS_BEHIND(type, name, parameters);                                                    \
        telling;                                                                                   \
        return real.call arguments;                                                                \
    }
#define CALLER __builtin_return_address(0)
#define BUFFER(type, name, parameters, arguments, bytes, size, is_filled)                          \
    STAND_IN(type, name, parameters, arguments, tell(bytes, size, is_filled, CALLER))
#define VECTOR(type, name, parameters, arguments, parts, count, is_filled)                         \
    STAND_IN(type, name, parameters, arguments, tell_parts(parts, count, is_filled, CALLER))
#undef fread_unlocked /* <stdio.h> defines macros of these names */
#undef fwrite_unlocked
#include "threads/buffers.def"
