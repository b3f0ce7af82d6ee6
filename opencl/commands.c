/* The commands that are under way: each has an event of ours, by which the device's own times are
 * asked for when it has ended.
 */
#include "opencl/inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

typedef cl_int (*wait_function)(cl_uint, const cl_handle *);
typedef cl_int (*event_function)(cl_handle);
typedef cl_int (*times_function)(cl_handle, cl_uint, size_t, void *, size_t *);

static struct {
    struct command *list;
    size_t count, room;
} commands;

#define BLOCK ((size_t)4096)

/* Reads as the kernel does, to which memory that is gone is an error and no crash. */
uint64_t command_sum(const void *bytes, size_t size)
{
    unsigned char block[BLOCK];
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t done = 0; done < size; done += BLOCK) {
        const size_t length = size - done < BLOCK ? size - done : BLOCK;
        const struct iovec to = {block, length};
        const struct iovec from = {(char *)(uintptr_t)bytes + done, length};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)length) return 0;
        for (size_t i = 0; i < length; i++) sum = (sum ^ block[i]) * 0x100000001b3;
    }
    return sum;
}

void command_add(const struct command *command, cl_handle *wanted)
{
    event_function retain;
    struct command added = *command;

    if (wanted != NULL) {
        struct object *event =
            object_add(command->event, KIND_EVENT, command->queue->context, &command->call, 0);
        added.event_id = event != NULL ? event->id : 0;
        layer_take(ROW_clRetainEvent, &retain);
        retain(command->event);
        *wanted = command->event;
    }
    layer_lock();
    if (commands.count == commands.room) {
        const size_t room = commands.room > 0 ? 2 * commands.room : 64;
        struct command *list = realloc(commands.list, room * sizeof *list);
        if (list != NULL) {
            commands.list = list;
            commands.room = room;
        }
    }
    if (commands.count < commands.room) commands.list[commands.count++] = added;
    layer_unlock();
}

static void put_finding(const struct command *command, enum trace_finding_id id)
{
    struct trace_record record = {.kind = TRACE_FINDING,
                                  .caller = command->call.caller,
                                  .request = command->call.request,
                                  .bytes = command->bytes,
                                  .count = 1};
    trace_copy_string(record.name, sizeof record.name, call_name(&command->call));
    record.finding.id = id;
    layer_put(&record);
}

/* With the device's own times. */
static void put_operation(const struct command *command)
{
    times_function get_time;
    struct trace_record record = {.kind = TRACE_OPERATION,
                                  .what = command->what,
                                  .from = command->from,
                                  .to = command->to,
                                  .caller = command->call.caller,
                                  .request = command->call.request,
                                  .stream = command->queue->id,
                                  .object = command->event_id,
                                  .bytes = command->bytes,
                                  .count = command->count};
    layer_take(ROW_clGetEventProfilingInfo, &get_time);
    get_time(command->event, CL_PROFILING_COMMAND_START, sizeof record.start_ns, &record.start_ns,
             NULL);
    get_time(command->event, CL_PROFILING_COMMAND_END, sizeof record.end_ns, &record.end_ns, NULL);
    trace_copy_string(record.name, sizeof record.name, command->name);
    layer_put(&record);
}

/* Its end is known: what it brings is there, and what it read need no longer stay. */
static void settle(struct command *command)
{
    if (command->settled) return;
    command->settled = true;
    if (command->shadow != NULL) memcpy(command->destination, command->shadow, command->bytes);
    if (command->source != NULL && command_sum(command->source, command->bytes) != command->sum)
        put_finding(command, FINDING_CL_CHANGED);
    free(command->shadow);
    command->shadow = NULL;
    if (command->what != TRACE_WHAT_NONE) put_operation(command);
}

void commands_settle_queue(const struct object *queue)
{
    for (size_t i = 0; i < commands.count; i++)
        if (commands.list[i].queue == queue) settle(&commands.list[i]);
}

void command_settle_event(cl_handle event)
{
    for (size_t i = commands.count; i-- > 0;) {
        if (commands.list[i].event != event) continue;
        const struct object *queue = commands.list[i].queue;
        for (size_t k = 0; k < i && queue->in_order; k++)
            if (commands.list[k].queue == queue) settle(&commands.list[k]);
        settle(&commands.list[i]);
        return;
    }
}

bool command_is_settled(cl_handle event, const struct object **queue)
{
    for (size_t i = commands.count; i-- > 0;) {
        if (commands.list[i].event != event) continue;
        *queue = commands.list[i].queue;
        return commands.list[i].settled;
    }
    *queue = NULL;
    return true;
}

void commands_drain(void)
{
    wait_function wait;
    layer_take(ROW_clWaitForEvents, &wait);
    for (size_t i = 0; i < commands.count; i++)
        if (!commands.list[i].settled) wait(1, &commands.list[i].event);
}

void commands_end(bool findings)
{
    event_function release;
    layer_take(ROW_clReleaseEvent, &release);
    commands_drain();
    for (size_t i = 0; i < commands.count; i++) {
        struct command *command = &commands.list[i];
        if (!command->settled && command->shadow != NULL) {
            /* What it was to bring has not come. */
            if (findings) put_finding(command, FINDING_CL_NOT_AWAITED);
            free(command->shadow);
            command->shadow = NULL;
        }
        /* Nor is its source looked at: the function has returned, and its variables are gone. */
        if (!command->settled && command->source != NULL && findings)
            put_finding(command, FINDING_CL_SOURCE_NOT_AWAITED);
        command->source = NULL;
        settle(command);
        release(command->event);
    }
    commands.count = 0;
}
