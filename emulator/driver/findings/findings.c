#include "emulator/driver/findings/findings.h"

#include "emulator/driver/findings/gpu_wait.h"
#include "emulator/driver/findings/in_flight.h"
#include "emulator/driver/findings/initcheck.h"
#include "emulator/driver/findings/kernel.h"
#include "emulator/driver/findings/late_load.h"
#include "emulator/driver/findings/page_guard.h"
#include "emulator/driver/findings/quote.h"
#include "emulator/driver/findings/unchecked.h"
#include "emulator/driver/findings/unfinished.h"

/* ---- the process and its calls ------------------------------------------------------------- */

void findings_process_begins(void)
{
    unfinished_begin();
}

bool findings_begin(void)
{
    if (!races_begin()) return false;
    page_guards_begin();
    return true;
}

bool findings_watching(void)
{
    return races_watching();
}

void findings_call_ended(int code)
{
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY) unfinished_call_failed();
    unchecked_call_ended(code);
}

void findings_host_waits_on_gpus(uint64_t context, uint64_t stream)
{
    gpu_wait_note(context, stream);
}

void findings_first_use(const struct context *context, const struct findings_first *first)
{
    if (late_load_note(context, first))
        timeline_context_loads_waiting(context->time);
    else
        timeline_context_loads(context->time);
}

void findings_held_up(const struct operation *held, const struct operation *later)
{
    late_load_held_up(held, later);
}

void findings_host_waited(void)
{
    in_flight_sweep();
    page_guards_sweep();
}

void findings_call_lacks(enum object_kind kind)
{
    unchecked_lacks(kind);
}

void findings_call_lacks_memory(uint64_t address)
{
    unchecked_lacks_memory(address);
}

void findings_host_reads(const struct races_rows *rows)
{
    races_host(RACES_READ, rows);
}

void findings_process_ends(void)
{
    unfinished_of_process();
}

void findings_last(void)
{
    initcheck_last();
}

/* ---- an operation's life -------------------------------------------------------------------- */

void findings_asked_for(struct operation *operation)
{
    unchecked_take_along(operation);
}

void findings_given(uint64_t address)
{
    initcheck_given(address);
}

void findings_will_touch(struct operation *operation, enum races_mode mode,
                         const struct races_rows *rows, bool is_advice)
{
    in_flight_begins(operation, rows, mode == RACES_WRITE, is_advice);
}

void findings_in_flight(uint64_t flight, const struct timeline_op *op,
                        const struct races_rows *written, const struct races_rows *read)
{
    in_flight_submitted(flight, op);
    if (op == NULL) return;
    page_guards_raise(op, RACES_WRITE, written);
    if (read->width > 0) page_guards_raise(op, RACES_READ, read);
}

static bool is_expected(const struct operation *operation)
{
    return operation->awaited && operation->outcome == NULL;
}

bool findings_submits(const struct operation *operation)
{
    return !is_expected(operation) || unfinished_reserve();
}

void findings_submitted(const struct operation *operation, const struct timeline_op *op)
{
    if (!is_expected(operation)) return;
    if (op != NULL)
        unfinished_expects(operation, op);
    else
        unfinished_unreserve();
}

void findings_will_write(const struct timeline_op *op, uint64_t address)
{
    initcheck_pending(op, address);
}

void findings_may_touch(const struct timeline_op *op, uint64_t address)
{
    initcheck_pending(op, address);
    page_guards_guess(op, address);
}

void findings_begins(const struct operation *operation, const struct races_rows *pageable)
{
    in_flight_lands(operation);
    if (pageable != NULL) in_flight_overwrite(pageable, false);
}

void findings_ran(const struct operation *operation, const struct races_rows *pageable)
{
    if (pageable != NULL) in_flight_overwrite(pageable, true);
    in_flight_landed(operation);
}

void findings_reads(struct operation *operation, const struct races_rows *rows)
{
    races_operation(operation, RACES_READ, rows);
    initcheck_copied(operation, rows);
}

void findings_writes(struct operation *operation, const struct races_rows *rows)
{
    races_operation(operation, RACES_WRITE, rows);
    initcheck_written(operation, rows);
}

void findings_value(struct operation *operation, uint64_t address, uint64_t size)
{
    races_value(operation, address, size);
}

void findings_operation_faults(struct operation *operation, const struct findings_access *access)
{
    unchecked_operation_faults(operation, access->address);
    races_fault(operation, access);
}

void findings_communicates(const struct timeline_op *op)
{
    in_flight_conversed(op);
    unfinished_conversed(op);
    page_guards_conversed(op);
}

void findings_operation_ends(struct operation *operation)
{
    races_operation_end(operation);
}

static uint64_t product(const uint32_t extent[3])
{
    return (uint64_t)extent[0] * extent[1] * extent[2];
}

/* ---- a kernel ------------------------------------------------------------------------------- */

static struct {
    unsigned paused; /* that have paused and not ended */
} kernels;

void findings_kernel_begins(struct operation *operation, struct findings_kernel *kernel,
                            struct exec_launch *request)
{
    if (kernel->footprint != NULL && kernel->memory_ends != memory_ends()) {
        exec_footprint_destroy(kernel->footprint);
        exec_footprint_destroy(kernel->early);
        kernel->footprint = kernel->early = NULL;
        kernel->has_lost = true;
    }
    races_pause(kernel->footprint, true);
    if (kernel->footprint == NULL)
        kernel->footprint = races_footprint(operation, exec_function_info(request->function));
    if (kernel->racecheck == NULL) kernel->racecheck = racecheck_begin();
    early_remove_before(&kernel->beside, operation->op);
    const bool begins_early = kernel->primary != NULL || kernel->beside.count > 0;
    if (begins_early && kernel->footprint != NULL && kernel->early == NULL)
        kernel->early = races_footprint_early();
    request->footprint = kernel->footprint;
    request->early = kernel->early;
    request->watch = kernel->racecheck;
}

void findings_kernel_pauses(struct findings_kernel *kernel)
{
    initcheck_paused(kernel->footprint);
    races_pause(kernel->footprint, false);
    kernel->memory_ends = memory_ends();
    if (!kernel->has_paused) kernels.paused++;
    kernel->has_paused = true;
}

bool findings_kernel_has_touched(const struct findings_kernel *kernel)
{
    return kernel->footprint != NULL && exec_footprint_site_count(kernel->footprint) > 0;
}

void findings_kernel_part(struct operation *operation, struct findings_kernel *kernel,
                          const struct exec_launch *request)
{
    const struct exec_function_info *info = exec_function_info(request->function);
    if (kernel->footprint == NULL) return;
    if (kernel->racecheck != NULL) exec_racecheck_place(kernel->racecheck, kernel->footprint);
    initcheck_launched(operation, kernel->footprint, request->parameters, info->parameter_bytes,
                       product(request->block));
    races_part(operation, kernel->footprint, info->converses);
    exec_footprint_empty(kernel->footprint);
}

void findings_kernel_ran(struct operation *operation, struct findings_kernel *kernel,
                         const struct exec_launch *request)
{
    const struct exec_function_info *info = exec_function_info(request->function);
    racecheck_end(operation, kernel->racecheck);
    if (kernel->early != NULL) {
        if (kernel->primary != NULL)
            races_early(operation, kernel->footprint, kernel->early, kernel->primary);
        for (size_t i = 0; i < kernel->beside.count; i++)
            races_early(operation, kernel->footprint, kernel->early, kernel->beside.list[i]);
        exec_footprint_join(kernel->footprint, kernel->early);
        exec_footprint_destroy(kernel->early);
    }
    for (size_t i = 0; i < kernel->beside.count; i++)
        timeline_join(operation->op, kernel->beside.list[i]);
    if (info->converses) initcheck_met(kernel->footprint);
    if (kernel->has_paused) kernels.paused--;
    const struct races_talk talk = {.info = info,
                                    .paused = kernel->has_paused,
                                    .beside_paused = kernels.paused > 0,
                                    .uncertain = kernel->has_lost || info->launches};
    initcheck_launched(operation, kernel->footprint, request->parameters, info->parameter_bytes,
                       product(request->block));
    races_launch(operation, kernel->footprint, &talk);
    timeline_op_release(kernel->primary);
    early_clear(&kernel->beside);
    *kernel = (struct findings_kernel){.footprint = NULL};
}

void findings_kernel_drop(struct findings_kernel *kernel)
{
    if (kernel->has_paused) kernels.paused--;
    exec_footprint_destroy(kernel->footprint);
    exec_footprint_destroy(kernel->early);
    timeline_op_release(kernel->primary);
    early_clear(&kernel->beside);
    if (kernel->racecheck != NULL) exec_racecheck_destroy(kernel->racecheck);
}

/* ---- memory, contexts, events --------------------------------------------------------------- */

void findings_memory_begins(const struct memory_region *region)
{
    initcheck_begins(region);
}

void findings_memory_pads(const struct races_rows *rows)
{
    initcheck_written(NULL, rows);
}

void findings_memory_ends(const struct memory_region *region)
{
    initcheck_ends(region);
    races_release(region);
}

void findings_memory_gone(const struct memory_region *region)
{
    races_forget_region(region);
}

void findings_memory_passes(struct operation *operation, enum races_mode mode,
                            const struct memory_region *region, bool stays)
{
    const struct races_rows whole = {
        region->address, region->size, region->size, 1, region->size, 1};
    races_operation(operation, mode, &whole);
    if (mode != RACES_FREE) return;
    races_freed(operation, region);
    initcheck_ends(region);
    races_forget_region(region);
    if (stays) races_operation(operation, mode, &whole);
}

void findings_memory_misses(struct operation *operation, enum races_mode mode, uint64_t address,
                            uint64_t bytes)
{
    races_fault(operation,
                &(struct findings_access){.mode = mode, .address = address, .bytes = bytes});
}

void findings_unit_parsed(const struct ptx_module *unit, const char *text)
{
    quote_keep(text, unit);
}

void findings_context_ends(const struct context *context)
{
    unfinished_of_context(context);
}

void findings_context_abandoned(const struct context *context)
{
    in_flight_forget(context);
}

void findings_event_awaited(struct event *event, const struct stream *stream)
{
    if (event->record == NULL) unfinished_waits_for_nothing(event, stream);
}

void findings_event_ends(const struct event *event)
{
    unfinished_of_event(event);
}
