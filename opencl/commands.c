/* Commands in progress: the layer keeps an event of each, from which it gets the device's times
 * when the command has ended.
 */
#include "opencl/inside.h"
#include "opencl/layer.h"

#include <pthread.h>
#include <stdio.h>
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
    unsigned char *released; /* the layer's memory of the mapping that was released last */
    pthread_mutex_t lock;    /* callbacks of OpenCL may come at any time, on a thread of its own */
} commands = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    pthread_mutex_lock(&commands.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&commands.lock);
}

#define BLOCK ((size_t)4096)

/* Reads memory through the kernel, so that unmapped memory is an error and not a crash. */
uint64_t command_sum(const void *bytes, size_t size, uint64_t *content)
{
    unsigned char block[BLOCK];
    uint64_t sum = 0xcbf29ce484222325;
    uint32_t word;

    *content = 0;
    for (size_t done = 0; done < size; done += BLOCK) {
        const size_t length = size - done < BLOCK ? size - done : BLOCK;
        const struct iovec to = {block, length};
        const struct iovec from = {(char *)(uintptr_t)bytes + done, length};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)length) return *content = 0;
        for (size_t i = 0; i < length; i++) sum = (sum ^ block[i]) * 0x100000001b3;
        for (size_t i = 0; i + sizeof word <= length; i += sizeof word) {
            memcpy(&word, &block[i], sizeof word);
            *content += opencl_content(word);
        }
    }
    return sum;
}

/* ---- order ------------------------------------------------------------------------------------
 */

/* The newest command of that event; `count`: none. */
static size_t find(cl_handle event, size_t count)
{
    for (size_t i = count; i-- > 0;)
        if (commands.list[i].event == event) return i;
    return count;
}

/* Marks those of the first `count` commands of the list that a later one waits for by itself. */
static void mark_awaited(const struct command *command, size_t count, bool *marked)
{
    for (size_t i = 0; i < count; i++) {
        const struct command *earlier = &commands.list[i];
        if (earlier->queue == command->queue &&
            (command->queue->in_order || command->behind_all || earlier->barrier))
            marked[i] = true;
    }
    for (cl_uint e = 0; e < command->after_count; e++) {
        const size_t awaited = find(command->after[e], commands.count);
        if (awaited < count) marked[awaited] = true;
    }
}

/* Marks the commands of the list behind which `command`, a later one, is: those that it waits for,
 * and what these waited for. */
static void mark_earlier(const struct command *command, bool *marked)
{
    mark_awaited(command, commands.count, marked);
    for (size_t i = commands.count; i-- > 0;)
        if (marked[i]) mark_awaited(&commands.list[i], i, marked);
}

static bool accesses(const struct command *command, const struct object *buffer)
{
    for (size_t i = 0; i < ARGUMENTS; i++)
        if (command->accessed[i] == buffer) return true;
    return command->written == buffer || command->read == buffer;
}

/* Returns true if one of the two needs the other to have ended, or not to have begun. A kernel may
 * be content with a part of its buffer, and may only read it: so it is held against copies of the
 * whole buffer, and against those from it only if it alone can have filled it. */
static bool collide(const struct command *a, const struct command *b)
{
    if (a->written != NULL && accesses(b, a->written)) return true;
    if (b->written != NULL && accesses(a, b->written)) return true;
    const struct object *read = b->what == TRACE_COPY ? b->read : NULL;
    return read != NULL && !read->filled && a->what == TRACE_KERNEL && accesses(a, read);
}

/* Reports the first command of those in progress that nothing orders against `command`, which
 * follows them, although both use one buffer. */
static void check_order(const struct command *command)
{
    bool *marked = NULL;
    for (size_t i = 0; i < commands.count; i++) {
        const struct command *earlier = &commands.list[i];
        if (earlier->settled || (earlier->queue == command->queue && command->queue->in_order) ||
            !collide(earlier, command))
            continue;
        if (marked == NULL) {
            marked = calloc(commands.count, sizeof *marked);
            if (marked == NULL) return;
            mark_earlier(command, marked);
        }
        if (marked[i]) continue;
        struct trace_record record = {.kind = TRACE_FINDING,
                                      .caller = command->call.caller,
                                      .request = command->call.request,
                                      .count = 1};
        trace_copy_string(record.name, sizeof record.name, call_name(&command->call));
        record.finding.id = FINDING_CL_UNORDERED;
        record.finding.sides[1].call = earlier->call.caller;
        layer_put(&record);
        break;
    }
    free(marked);
}

/* ---- a new command -----------------------------------------------------------------------------
 */

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
    lock();
    check_order(&added);
    if (added.written != NULL) added.written->filled = true;
    if (added.read != NULL && added.mapped == NULL) added.read->copied = true;
    if (commands.count == commands.room) {
        const size_t room = commands.room > 0 ? 2 * commands.room : 64;
        struct command *list = realloc(commands.list, room * sizeof *list);
        if (list != NULL) {
            commands.list = list;
            commands.room = room;
        }
    }
    if (commands.count < commands.room) commands.list[commands.count++] = added;
    unlock();
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

/* ---- the end of a command ---------------------------------------------------------------------
 */

/* Records the operation with the device's own times. */
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
    snprintf(record.text, sizeof record.text, "%u", layer_device_number(command->queue->device));
    layer_put(&record);
}

/* The student knows that the command has ended: its data is delivered, and its source may change
 * from now on. */
static void settle(struct command *command)
{
    uint64_t content = 0;
    if (command->settled) return;
    command->settled = true;
    if (command->shadow != NULL) memcpy(command->destination, command->shadow, command->bytes);
    if (command->image != NULL && command->shows)
        memcpy(command->mapped, command->image, command->bytes);
    if (command->source != NULL &&
        command_sum(command->source, command->bytes, &content) != command->sum)
        put_finding(command, FINDING_CL_CHANGED);
    if (command->brings != NULL && !command->scattered)
        command_sum(command->brings, command->bytes, &command->count);
    free(command->shadow);
    command->shadow = NULL;
    if (command->what != TRACE_WHAT_NONE) put_operation(command);
}

/* Settles the command and all commands that it waited for. */
static void settle_with(size_t number)
{
    struct command *command = &commands.list[number];
    if (command->settled) return;
    for (size_t k = 0; k < number; k++)
        if (commands.list[k].queue == command->queue &&
            (command->queue->in_order || command->behind_all || commands.list[k].barrier))
            settle_with(k);
    for (cl_uint e = 0; e < command->after_count; e++) {
        const size_t k = find(command->after[e], number);
        if (k < number) settle_with(k);
    }
    settle(command);
}

void commands_settle_queue(const struct object *queue)
{
    lock();
    for (size_t i = 0; i < commands.count; i++)
        if (commands.list[i].queue == queue) settle_with(i);
    unlock();
}

void command_settle_event(cl_handle event)
{
    lock();
    const size_t i = find(event, commands.count);
    if (i < commands.count) settle_with(i);
    unlock();
}

bool command_is_settled(cl_handle event, const struct object **queue)
{
    lock();
    const size_t i = find(event, commands.count);
    const bool there = i < commands.count, settled = !there || commands.list[i].settled;
    *queue = there ? commands.list[i].queue : NULL;
    unlock();
    return settled;
}

/* Keeps the memory of one released mapping: a loop may map and release any number of times. */
static void keep_released(struct command *command)
{
    memset(command->copy, COMMAND_UNMAPPED, command->bytes);
    free(commands.released);
    commands.released = command->copy;
    command->copy = NULL;
}

void *command_unmap(void *mapped)
{
    void *image = mapped;
    lock();
    for (size_t i = commands.count; i-- > 0;) {
        struct command *command = &commands.list[i];
        if (command->mapped != mapped) continue;
        if (!command->settled) put_finding(command, FINDING_CL_NOT_AWAITED);
        if (command->image != NULL) image = command->image;
        if (command->image != NULL && command->maps_to_write)
            memcpy(command->image, mapped, command->bytes);
        if (command->copy != NULL) keep_released(command);
        command->mapped = command->image = NULL;
        break;
    }
    unlock();
    return image;
}

/* Releases the lock while waiting, since a callback may have to run first. */
void commands_drain(void)
{
    wait_function wait;
    cl_handle event;
    layer_take(ROW_clWaitForEvents, &wait);
    for (size_t i = 0;; i++) {
        lock();
        const bool there = i < commands.count, settled = there && commands.list[i].settled;
        event = there ? commands.list[i].event : NULL;
        unlock();
        if (!there) return;
        if (!settled) wait(1, &event);
    }
}

/* Returns true if a later copy to the host in the same queue has not been waited for either. */
static bool copy_behind(size_t number)
{
    const struct command *command = &commands.list[number];
    for (size_t i = number + 1; i < commands.count; i++)
        if (commands.list[i].queue == command->queue && commands.list[i].brings != NULL &&
            !commands.list[i].settled)
            return true;
    return false;
}

void commands_end(bool findings)
{
    event_function release;
    layer_take(ROW_clReleaseEvent, &release);
    commands_drain();
    lock();
    for (size_t i = 0; i < commands.count; i++) {
        struct command *command = &commands.list[i];
        /* The data that it should have delivered has not arrived. */
        if (!command->settled && command->brings != NULL && findings)
            put_finding(command, FINDING_CL_NOT_AWAITED);
        /* If a copy follows, that copy should have been waited for instead. */
        if (!command->settled && command->what == TRACE_KERNEL && findings && !copy_behind(i))
            put_finding(command, FINDING_CL_KERNEL_NOT_AWAITED);
        if (!command->settled && command->shadow != NULL) {
            free(command->shadow);
            command->shadow = NULL;
        }
        if (!command->settled) command->brings = command->image = NULL;
        /* The source is not compared any more: the function has returned, so its variables are
         * gone. */
        if (!command->settled && command->source != NULL && findings)
            put_finding(command, FINDING_CL_SOURCE_NOT_AWAITED);
        command->source = NULL;
        settle(command);
        release(command->event);
        free(command->after);
        free(command->copy);
    }
    commands.count = 0;
    free(commands.released);
    commands.released = NULL;
    unlock();
}
