/* Which instructions of a function are loads and stores of global or shared memory, and of how many
 * bytes, for machine/probe.h: known by the keys of their rows. */
#include "emulator/base/array.h"
#include "emulator/exec/lower/program.h"

#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Of "v2.u32", which has 8 bytes: EXEC_FORM_WIDTH is 1 + their binary logarithm. */
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
        const char *where; /* behind "ld." or "st." */
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

void lower_forms(struct lower *lower)
{
    struct exec_function *function = lower->function;
    struct exec_probed *probed = arena_take(&lower->program->arena, 1, sizeof *probed);
    uint8_t *forms = arena_take(&lower->program->arena, function->code_count, sizeof *forms);
    if (probed == NULL || forms == NULL) return; /* then nobody looks */
    *probed = (struct exec_probed){0};
    memset(forms, 0, function->code_count);
    for (size_t k = 0; k < lower->form_count; k++) forms[lower->forms[k].at] = lower->forms[k].form;
    function->forms = forms;
    function->probed = probed;
}
