#include "emulator/driver/work/needs.h"

#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/stream.h"

/* More local memory than this per thread is not there from the beginning on a GPU: an H200 waits at
 * the first launch that needs 4,096 bytes, and not for 2,048 (tests/gpu/lazy_loading.cu). */
enum { LOCAL_BYTES_WAITED_FOR = 4096 };

void needs_settle(struct context *context, const struct exec_function_info *info)
{
    context->has_printed |= info->prints;
    context->has_taken |= info->takes;
}

void needs_note(struct context *context, const struct exec_function_info *info)
{
    struct findings_first first = {.kernel = info->name, .bytes = info->local_bytes};
    const bool is_heap =
        (info->prints || info->takes) && !context->has_printed && !context->has_taken;
    const bool is_local = info->local_bytes >= LOCAL_BYTES_WAITED_FOR &&
                          info->local_bytes > context->limits[CU_LIMIT_STACK_SIZE] &&
                          info->local_bytes > context->local_bytes;
    if (is_local) context->local_bytes = info->local_bytes;
    first.what = FIRST_NEED_OF_LOCAL;
    if (is_local && host_is_alone()) findings_first_use(context, &first);
    first.what = FIRST_NEED_OF_HEAPS;
    if (is_heap) findings_first_use(context, &first);
}
