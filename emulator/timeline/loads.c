/* Kernels that are loaded while others run.
 *
 * A GPU loads a kernel when it is first used (lazy loading). It begins what is submitted from then
 * on, in any stream, only when the kernels that ran at that time have ended (H200,
 * tests/gpu/lazy_loading.cu). With CUDA_MODULE_LOADING=EAGER it does not, so the device begins it
 * at any time, and looks for kernels that end only by what a GPU would not begin. */
#include "emulator/timeline/parts.h"

enum {
    HELD_MOST = 8,       /* kernels at once; further ones are not looked at */
    OVERTAKEN_MOST = 64, /* operations that a kernel is tried behind; for later ones it is not */
    PASSES_MOST = 16,
};

void timeline_context_loads(struct timeline_context *context)
{
    context->loads++;
}

void timeline_op_heard(struct timeline_op *op)
{
    op->heard = true;
}

/* What a load holds up: what its context is asked for from then on. */
struct load {
    const struct timeline *timeline;
    uint64_t context, number; /* by timeline_context_loads: operations of fewer go before */
};

/* Returns whether a GPU would begin what is behind the load only when the ready operation `op` has
 * ended, if that runs. */
static bool goes_before(const struct timeline_op *op, const struct load *load)
{
    return op->context == load->context && op->loads < load->number;
}

static bool may_wait(const struct timeline_op *op)
{
    return op->work.kind == TIMELINE_KERNEL && op->work.converses && op->loads > 0 &&
           op->overtaken < OVERTAKEN_MOST;
}

static bool changes_memory(const struct timeline_op *op)
{
    switch (op->work.kind) {
    case TIMELINE_KERNEL:
    case TIMELINE_COPY_IN:
    case TIMELINE_COPY_OUT:
    case TIMELINE_COPY_INSIDE:
    case TIMELINE_SET:
        return !op->work.beside;
    default:
        return false;
    }
}

/* Returns whether a kernel that may wait was submitted before the load. It need not be ready: what
 * it waits for in its stream may be what goes before, too. */
static bool may_hold_up(const struct load *load)
{
    for (const struct timeline_op *op = load->timeline->oldest; op != NULL; op = op->younger)
        if (goes_before(op, load) && may_wait(op)) return true;
    return false;
}

/* The oldest ready operation that goes before the load and was not tried in this pass. */
static struct timeline_op *next_before(const struct load *load, uint64_t pass)
{
    const struct timeline *timeline = load->timeline;
    struct timeline_op *best = NULL;
    for (size_t i = 0; i < timeline->ready_count; i++) {
        struct timeline_op *op = timeline->ready[i];
        if (goes_before(op, load) && op->passed != pass &&
            op->work.kind != TIMELINE_HOST_FUNCTION && (best == NULL || op->number < best->number))
            best = op;
    }
    return best;
}

/* Runs an operation that is not waited for: a kernel that waits has a short look. */
static bool try(struct timeline_op *op)
{
    struct timeline *timeline = op->timeline;
    timeline->tries++;
    const bool has_run = loads_run(op);
    timeline->tries--;
    return has_run;
}

/* Runs what goes before the load, until nothing of it gets any further. */
static void run_before(struct timeline *timeline, const struct load *load)
{
    bool any = true;
    for (unsigned k = 0; any && k < PASSES_MOST; k++) {
        const uint64_t pass = ++timeline->passes;
        struct timeline_op *op;
        any = false;
        while ((op = next_before(load, pass)) != NULL) {
            op->passed = pass;
            timeline_op_retain(op);
            any |= try(op) || op->heard;
            timeline_op_release(op);
        }
    }
}

static bool is_alone(const struct timeline *timeline)
{
    return timeline->settings.is_alone != NULL &&
           timeline->settings.is_alone(timeline->settings.user);
}

/* Collects the kernels that go before the load and wait for something. Returns how many; 0 as well
 * if an operation before `later` (NULL: any) might still end them. */
static size_t held_by(const struct load *load, const struct timeline_op *later,
                      struct timeline_op **held)
{
    size_t count = 0;
    for (struct timeline_op *op = load->timeline->oldest; op != later; op = op->younger) {
        const bool is_held_up = op->context == load->context && !goes_before(op, load);
        if (op->state == ORDER_RUNNING) return 0;
        if (op->state != ORDER_READY || is_held_up) continue;
        if (!goes_before(op, load) || !may_wait(op) || !op->begun) return 0;
        if (count < HELD_MOST) held[count++] = op;
    }
    return count;
}

void timeline_context_loads_waiting(struct timeline_context *context)
{
    const struct load load = {context->timeline, context->number, UINT64_MAX};
    struct timeline_op *held[HELD_MOST];
    if (context->timeline->conversing_count == 0 || !may_hold_up(&load)) return;
    run_before(context->timeline, &load);
    const size_t count = held_by(&load, NULL, held);
    for (size_t i = 0; i < count; i++) held[i]->loads_wait = true;
}

/* Tells that `held` goes on because of the work whose user is `later`. */
static void tell(const struct timeline_op *held, void *later)
{
    const struct timeline_settings *settings = &held->timeline->settings;
    if (settings->held_up != NULL) settings->held_up(settings->user, held->work.user, later);
}

void loads_let_on(struct timeline_op *op)
{
    op->loads_wait = op->heard = false;
    tell(op, NULL);
}

bool loads_run(struct timeline_op *op)
{
    const struct load load = {op->timeline, op->context, op->loads};
    struct timeline *timeline = op->timeline;
    struct timeline_op *held[HELD_MOST];
    if (timeline->conversing_count == 0 || !changes_memory(op) || !may_hold_up(&load) ||
        !is_alone(timeline))
        return order_run(op);
    timeline_op_retain(op);
    run_before(timeline, &load);
    /* Another thread may have run it meanwhile. */
    const size_t count = op->state == ORDER_READY ? held_by(&load, op, held) : 0;
    for (size_t i = 0; i < count; i++) {
        timeline_op_retain(held[i]);
        if (!op->begun) held[i]->overtaken++;
        held[i]->heard = false;
    }
    const bool has_run = op->state != ORDER_READY || order_run(op);
    for (size_t i = 0; i < count; i++) {
        timeline->tries++;
        if (held[i]->state == ORDER_READY) order_run(held[i]);
        timeline->tries--;
        if (held[i]->heard) tell(held[i], op->work.user);
        timeline_op_release(held[i]);
    }
    timeline_op_release(op);
    return has_run;
}
