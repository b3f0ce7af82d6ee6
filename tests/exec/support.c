#include "tests/exec/support.h"

#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/ops.h"
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

size_t exec_support_count(void)
{
    return PTX_OPCODE_COUNT - 1; /* without PTX_OP_UNKNOWN */
}

struct exec_support exec_support_at(size_t index)
{
    const enum ptx_opcode op = (enum ptx_opcode)(index + 1);
    return (struct exec_support){.name = ptx_opcode_name(op),
                                 .meaning = ptx_opcode_meaning(op),
                                 .supported = ptx_opcode_supported(op)};
}

/* Returns the opcode with which a key begins: the longer one of `cvt` and `cvt.pack`. */
static enum ptx_opcode opcode_of(const char *key)
{
    enum ptx_opcode found = PTX_OP_UNKNOWN;
    size_t longest = 0;
    for (unsigned op = 1; op < PTX_OPCODE_COUNT; op++) {
        const char *name = ptx_opcode_name((enum ptx_opcode)op);
        const size_t length = strlen(name);
        if (length <= longest || strncmp(key, name, length) != 0) continue;
        if (key[length] && key[length] != '.') continue;
        longest = length;
        found = (enum ptx_opcode)op;
    }
    return found;
}

struct form_search {
    enum ptx_opcode op;
    void (*visit)(void *user, const char *form);
    void *user;
};

static void see_row(void *user, const struct exec_row *row)
{
    const struct form_search *search = user;
    char form[128];
    for (const char *key = row->keys; *key;) {
        const size_t length = strcspn(key, " ");
        snprintf(form, sizeof form, "%.*s", (int)length, key);
        if (length && opcode_of(form) == search->op) search->visit(search->user, form);
        key += length;
        key += strspn(key, " ");
    }
}

void exec_support_forms(size_t index, void (*visit)(void *user, const char *form), void *user)
{
    struct form_search search = {.op = (enum ptx_opcode)(index + 1), .visit = visit, .user = user};
    exec_row_each(see_row, &search);
}

size_t exec_support_missing(const struct exec_program *program,
                            void (*visit)(void *user, const char *function, const char *what),
                            void *user)
{
    size_t count = 0;
    for (size_t k = 0; k < program->function_count; k++) {
        const struct exec_function *function = program->functions[k];
        for (size_t i = 0; i < function->code_count; i++) {
            if (function->code[i].run != exec_unsupported) continue;
            const struct exec_refused *refused = function->code[i].extra;
            char what[600];
            count++;
            snprintf(what, sizeof what, "%s: %s", refused->text,
                     refused->meaning != NULL ? refused->meaning : "in this form");
            if (visit) visit(user, function->info.name, what);
        }
    }
    return count;
}
