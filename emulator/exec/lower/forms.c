/* For machine/probe.h: which instructions are loads and stores of global or shared memory, and of
 * how many bytes, recognised by the keys of their rows. For machine/stall.c: which instructions
 * affect or see more than a thread's own values, recognised by their opcodes. */
#include "emulator/base/array.h"
#include "emulator/exec/lower/program.h"

#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Returns 1 + the binary logarithm of the bytes of a type such as "v2.u32": EXEC_FORM_WIDTH. */
static uint8_t width_of(const char *type)
{
    unsigned log = 0;
    if (begins(type, "v2.") || begins(type, "v4.")) {
        log += type[1] == '2' ? 1 : 2;
        type += 3;
    }
    for (long bits = strtol(type + 1, NULL, 10); bits > 8; bits /= 2) log++;
    return (uint8_t)(log + 1);
}

static uint8_t form_of(const char *key)
{
    static const struct {
        const char *where; /* the text behind "ld." or "st." */
        uint8_t form;
    } places[] = {{"global.", 0},
                  {"generic.", 0},
                  {"shared.", EXEC_FORM_SHARED | EXEC_FORM_NARROW},
                  {"shared64.", EXEC_FORM_SHARED}};
    const bool stores = begins(key, "st.");
    if (!stores && !begins(key, "ld.")) return 0;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        if (!begins(key + 3, places[k].where)) continue;
        const uint8_t width = width_of(key + 3 + strlen(places[k].where));
        return (uint8_t)(width | places[k].form | (stores ? EXEC_FORM_STORE : 0));
    }
    return 0;
}

void lower_note_form(struct lower *lower, const char *key)
{
    const uint8_t form = form_of(key);
    if (form == 0 || lower->code_count == 0) return;
    if (!array_grow(&lower->forms, lower->form_count, &lower->form_room, sizeof *lower->forms)) {
        lower->failed = true;
        return;
    }
    lower->forms[lower->form_count++] = (struct lower_form){lower->code_count - 1, form};
}

/* ---- instructions on a thread's own values --------------------------------------------------- */

/* Opcodes that read only registers, constants and the block's shared memory, and affect only
 * registers and control flow. Any other opcode counts as one that may do more. */
static const bool own[PTX_OPCODE_COUNT] = {
    [PTX_OP_ADD] = true,          [PTX_OP_SUB] = true,        [PTX_OP_MUL] = true,
    [PTX_OP_MAD] = true,          [PTX_OP_DIV] = true,        [PTX_OP_REM] = true,
    [PTX_OP_ABS] = true,          [PTX_OP_NEG] = true,        [PTX_OP_MIN] = true,
    [PTX_OP_MAX] = true,          [PTX_OP_POPC] = true,       [PTX_OP_CLZ] = true,
    [PTX_OP_BFIND] = true,        [PTX_OP_BREV] = true,       [PTX_OP_BFE] = true,
    [PTX_OP_BFI] = true,          [PTX_OP_ADDC] = true,       [PTX_OP_SUBC] = true,
    [PTX_OP_SET] = true,          [PTX_OP_SETP] = true,       [PTX_OP_SELP] = true,
    [PTX_OP_SLCT] = true,         [PTX_OP_AND] = true,        [PTX_OP_OR] = true,
    [PTX_OP_XOR] = true,          [PTX_OP_NOT] = true,        [PTX_OP_CNOT] = true,
    [PTX_OP_LOP3] = true,         [PTX_OP_SHF] = true,        [PTX_OP_SHL] = true,
    [PTX_OP_SHR] = true,          [PTX_OP_MOV] = true,        [PTX_OP_PRMT] = true,
    [PTX_OP_CVT] = true,          [PTX_OP_CVTA] = true,       [PTX_OP_MAPA] = true,
    [PTX_OP_ISSPACEP] = true,     [PTX_OP_SHFL_SYNC] = true,  [PTX_OP_BRA] = true,
    [PTX_OP_BRX_IDX] = true,      [PTX_OP_RET] = true,        [PTX_OP_BAR_WARP_SYNC] = true,
    [PTX_OP_VOTE_SYNC] = true,    [PTX_OP_ELECT_SYNC] = true, [PTX_OP_MEMBAR] = true,
    [PTX_OP_FENCE] = true,        [PTX_OP_NANOSLEEP] = true,  [PTX_OP_MBARRIER_TEST] = true,
    [PTX_OP_MBARRIER_TRY] = true,
};

/* Returns whether the callee is a function with a body in the program. */
static bool calls_own(const struct lower *lower, const struct ptx_call *call)
{
    const struct ptx_function *callee = call->function;
    while (callee != NULL && callee->alias_of != NULL) callee = callee->alias_of;
    return callee != NULL && callee->is_defined &&
           lower->program->functions[callee->index]->builtin == EXEC_BUILTIN_NONE;
}

/* Decides by the state space. Where a generic address leads is checked at run time, if the
 * instruction has a form. */
static bool stays_inside(const struct ptx_instruction *at, bool has_form)
{
    switch (at->modifiers.space) {
    case PTX_ABSENT:
        return has_form;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_CONST:
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        return true;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CTA:
    case PTX_SPACE_SHARED_CLUSTER:
        return at->op == PTX_OP_LD;
    default:
        return false;
    }
}

/* `forms`: the `count` forms of the instruction's code. */
static bool is_own(const struct lower *lower, const struct ptx_instruction *at,
                   const uint8_t *forms, size_t count)
{
    bool has_form = false;
    for (size_t k = 0; k < count; k++) has_form |= forms[k] != 0;
    if (at->op == PTX_OP_LD || at->op == PTX_OP_ST) return stays_inside(at, has_form);
    if (at->op == PTX_OP_CALL) return calls_own(lower, at->call);
    return own[at->op];
}

static void mark_outside(const struct lower *lower, uint8_t *forms)
{
    for (uint32_t i = 0; i < lower->source->instruction_count; i++) {
        const size_t first = lower->starts[i], count = lower->starts[i + 1] - first;
        if (is_own(lower, &lower->source->instructions[i], forms + first, count)) continue;
        for (size_t k = first; k < first + count; k++) forms[k] |= EXEC_FORM_OUTSIDE;
    }
}

void lower_forms(struct lower *lower)
{
    struct exec_function *function = lower->function;
    struct exec_probed *probed = arena_take(&lower->program->arena, 1, sizeof *probed);
    uint8_t *forms = arena_take(&lower->program->arena, function->code_count, sizeof *forms);
    if (probed == NULL || forms == NULL) return; /* without it, no instruction is probed */
    *probed = (struct exec_probed){0};
    memset(forms, 0, function->code_count);
    for (size_t k = 0; k < lower->form_count; k++) forms[lower->forms[k].at] = lower->forms[k].form;
    mark_outside(lower, forms);
    function->forms = forms;
    function->probed = probed;
}
