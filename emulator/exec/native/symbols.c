/* The addresses of this process that code refers to, by name: code itself has none, so that it can
 * be kept. */
#include "emulator/base/array.h"
#include "emulator/exec/native/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool native_symbol_add(struct native_symbols *symbols, const char *name, uint64_t address)
{
    if (!array_grow(&symbols->list, symbols->count, &symbols->room, sizeof *symbols->list)) {
        symbols->failed = true;
        return false;
    }
    struct native_symbol *symbol = &symbols->list[symbols->count++];
    symbol->address = address;
    strcpy(symbol->name, name);
    return true;
}

const char *native_symbol(struct native_symbols *symbols, const void *address)
{
    const uint64_t wanted = (uint64_t)(uintptr_t)address;
    char name[NATIVE_NAME];
    for (size_t k = 0; k < symbols->count; k++)
        if (symbols->list[k].address == wanted) return symbols->list[k].name;
    snprintf(name, sizeof name, "at_%zu", symbols->count);
    if (!native_symbol_add(symbols, name, wanted)) return NULL;
    return symbols->list[symbols->count - 1].name;
}

void native_symbols_end(struct native_symbols *symbols)
{
    free(symbols->list);
    *symbols = (struct native_symbols){.list = NULL};
}
