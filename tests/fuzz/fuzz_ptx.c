/* Arbitrary bytes as PTX text: parsed, printed, parsed again. The printed text means the same. */
#include "emulator/ptx/ptx.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static struct ptx_diagnostics diagnostics;

static void read_again(const struct ptx_module *module)
{
    char *first = ptx_print(module);
    if (!first) return;
    struct ptx_module *again = ptx_parse(first, strlen(first), &diagnostics);
    char *second = again ? ptx_print(again) : NULL;
    if (!second || strcmp(first, second) != 0) abort();
    ptx_module_destroy(again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ptx_module *module = ptx_parse((const char *)bytes, size, &diagnostics);
    char log[512];
    if (module)
        read_again(module);
    else if (ptx_diagnostics_print(&diagnostics, log, sizeof log) == 0)
        abort(); /* refused without a word */
    ptx_module_destroy(module);
    return 0;
}
