/* What follows from calls: the depth of the stack, and which properties of a callee its callers
 * inherit.
 */
#include "emulator/exec/lower/program.h"

/* A caller's blocks do the atomics of its callees, too. Returns whether that changes the caller. */
static bool commute_together(struct exec_function *caller, exec_handler *commutes)
{
    if (caller->talks || commutes == NULL || commutes == caller->commutes) return false;
    if (caller->commutes == NULL)
        caller->commutes = commutes;
    else
        caller->talks = true;
    return true;
}

/* Joined properties of everything that a call through a pointer may reach: any function. */
struct pointed {
    bool talks, converses, orders_system, counts_system, fences, launches, prints, takes;
    exec_handler *commutes;
};

static void add_pointed(struct pointed *pointed, const struct exec_function *function)
{
    pointed->talks |= function->talks;
    /* With several kinds of atomics, a caller through a pointer counts as one that talks. */
    pointed->talks |=
        pointed->commutes && function->commutes != NULL && pointed->commutes != function->commutes;
    if (function->commutes != NULL) pointed->commutes = function->commutes;
    pointed->converses |= function->info.converses;
    pointed->orders_system |= function->info.orders_system;
    pointed->counts_system |= function->info.counts_system;
    pointed->fences |= function->info.fences;
    pointed->launches |= function->info.launches;
    pointed->prints |= function->info.prints;
    pointed->takes |= function->info.takes;
}

/* Lets the caller inherit a property of the callee. Returns whether that changes the caller. */
static bool inherit(bool *caller, bool callee)
{
    const bool changed = callee && !*caller;
    *caller |= callee;
    return changed;
}

/* Applies one call to `function`. `callee` is NULL for a call through a pointer. Returns whether
 * that changes the function. */
static bool follow_call(struct exec_function *function, const struct exec_function *callee,
                        const struct pointed *pointed)
{
    bool changed = inherit(&function->talks, callee != NULL ? callee->talks : pointed->talks);
    changed |=
        inherit(&function->info.fences, callee != NULL ? callee->info.fences : pointed->fences);
    changed |= inherit(&function->info.converses,
                       callee != NULL ? callee->info.converses : pointed->converses);
    changed |= inherit(&function->info.orders_system,
                       callee != NULL ? callee->info.orders_system : pointed->orders_system);
    changed |= inherit(&function->info.counts_system,
                       callee != NULL ? callee->info.counts_system : pointed->counts_system);
    changed |= inherit(&function->info.launches,
                       callee != NULL ? callee->info.launches : pointed->launches);
    changed |=
        inherit(&function->info.prints, callee != NULL ? callee->info.prints : pointed->prints);
    changed |= inherit(&function->info.takes, callee != NULL ? callee->info.takes : pointed->takes);
    return commute_together(function, callee != NULL ? callee->commutes : pointed->commutes) ||
           changed;
}

/* Not lowered yet: see exec_program_add. */
static bool is_missing(const struct exec_function *function)
{
    return function->defined && function->code == NULL;
}

/* Propagates properties and stack sizes from callees to callers until nothing changes. A function
 * that is not settled then is part of a cycle of calls, or calls through a pointer. */
void lower_settle_calls(struct exec_program *program)
{
    exec_handler *direct = exec_row_find("call")->run;
    exec_handler *indirect = exec_row_find("call.indirect")->run;
    struct pointed pointed = {.talks = false};
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < program->function_count; k++) {
            struct exec_function *function = program->functions[k];
            bool settled = !function->allocates;
            uint64_t deepest = 0;
            if (is_missing(function)) continue;
            add_pointed(&pointed, function);
            for (size_t j = 0; j < function->code_count; j++) {
                const struct exec_inst *inst = &function->code[j];
                if (inst->run != direct && inst->run != indirect) continue;
                const struct exec_call *call = inst->extra;
                const struct exec_function *callee = inst->run == direct ? call->callee : NULL;
                changed |= follow_call(function, callee, &pointed);
                if (callee == NULL || (callee->defined && !callee->settled))
                    settled = false;
                else if (callee->stack_bytes > deepest)
                    deepest = callee->stack_bytes;
            }
            if (function->settled || !settled) continue;
            deepest += function->local_bytes;
            if (!exec_program_fits(program, deepest, EXEC_MOST_LOCAL,
                                   "local memory for a thread with what it calls",
                                   function->info.name))
                return;
            function->stack_bytes = (uint32_t)deepest + EXEC_CALL_BYTES;
            function->settled = changed = true;
        }
    }
    for (size_t k = 0; k < program->function_count; k++) {
        struct exec_function *function = program->functions[k];
        if (function->settled || is_missing(function)) continue;
        function->recursive = true;
        function->stack_bytes = function->local_bytes + EXEC_CALL_BYTES;
    }
}
