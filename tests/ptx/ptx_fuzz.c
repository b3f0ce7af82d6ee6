/* libFuzzer's entry: any bytes, parsed, printed and parsed again. Not part of the tests; built with
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -I. tests/ptx/ptx_fuzz.c
 *       emulator/ptx/ptx_*.c
 * and started with the texts that the corpus was compiled to. */
#include "emulator/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void read_again(const struct ptx_module *module)
{
    static struct ptx_diagnostics diagnostics;
    char *first = ptx_print(module);
    if (!first) return;
    struct ptx_module *again = ptx_parse(first, strlen(first), &diagnostics);
    char *second = again ? ptx_print(again) : NULL;
    if (!second || strcmp(first, second) != 0) abort(); /* what is printed means the same */
    ptx_module_destroy(again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct ptx_diagnostics diagnostics;
    struct ptx_module *module = ptx_parse((const char *)bytes, length, &diagnostics);
    if (module) read_again(module);
    ptx_module_destroy(module);
    return 0;
}
