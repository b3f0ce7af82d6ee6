/* ptx: parses PTX text, as nvcc writes it (ISA up to 9.0), into a tree that another module can
 * execute, and prints it as text again.
 *
 * This module never executes anything, knows nothing of CUDA's API and trusts no input: any bytes
 * give either a module or diagnostics with the PTX line and column. An opcode without a row, or
 * whose row is marked unsupported, is no error: the instruction keeps its text, so that the
 * executor can report it.
 *
 * tree.h describes a module, tables.h the names of PTX and their rows.
 *
 * Ownership: the module owns everything, which lives until ptx_module_destroy; strings are
 * zero-terminated. After ptx_parse a module is read-only, and several threads may read it; after
 * ptx_parse_heads that holds once all bodies are read.
 *
 * Source: PTX ISA 9.0.
 */
#ifndef OVERLAP_PTX_PTX_H
#define OVERLAP_PTX_PTX_H

#include "emulator/ptx/tree.h"

/* ---- diagnostics ----------------------------------------------------------------------------- */

#define PTX_DIAGNOSTIC_MAX 16
#define PTX_DIAGNOSTIC_SIZE 240

struct ptx_diagnostic {
    uint32_t line; /* from 1 */
    uint32_t column;
    char text[PTX_DIAGNOSTIC_SIZE]; /* a sentence, without the position */
};

struct ptx_diagnostics {
    uint32_t count; /* entries kept, at most PTX_DIAGNOSTIC_MAX */
    uint32_t total; /* errors found */
    struct ptx_diagnostic entries[PTX_DIAGNOSTIC_MAX];
};

/* Writes "line 12, column 5: sentence\n" for each entry, zero-terminated and truncated to `size`.
 * Returns the length written. */
size_t ptx_diagnostics_print(const struct ptx_diagnostics *diagnostics, char *text, size_t size);

/* ---- the interface --------------------------------------------------------------------------- */

/* Creates the name tables that all parsers share, so that a forked child has them, too. Otherwise
 * the first parser does. */
void ptx_begin(void);
/* Parses and validates. `text` need not be zero-terminated; a zero byte inside ends it. Returns
 * NULL on an error, with `diagnostics` (never NULL) filled in; running out of memory is such an
 * error. */
struct ptx_module *ptx_parse(const char *text, size_t length, struct ptx_diagnostics *diagnostics);
/* As ptx_parse, but leaves the bodies of entries unread: for text that a compiler has checked, of
 * which a program may use little. The text must stay until the module is destroyed. */
struct ptx_module *ptx_parse_heads(const char *text, size_t length,
                                   struct ptx_diagnostics *diagnostics);
/* Reads the body of a function of a module from ptx_parse_heads, unless that has been done. Returns
 * false on an error, as ptx_parse does; the body then stays unread. No other thread may read the
 * module meanwhile. */
bool ptx_function_read(struct ptx_module *module, const struct ptx_function *function,
                       struct ptx_diagnostics *diagnostics);
/* Gives each entry .maxnreg `most`, unless it has a smaller one. To be called before any other
 * thread reads the module. */
void ptx_module_limit_registers(struct ptx_module *module, uint32_t most);
void ptx_module_destroy(struct ptx_module *module); /* NULL is ignored */

/* Returns NULL when there is no function of that name. */
const struct ptx_function *ptx_function_find(const struct ptx_module *module, const char *name);

/* Writes the initial contents of a variable, `variable->size` bytes: numbers in place, zeros
 * elsewhere and where relocations go. */
void ptx_variable_contents(const struct ptx_variable *variable, unsigned char *bytes);

/* Returns the whole module as PTX text, allocated with malloc; NULL when the host has no memory.
 * Parsing that text gives a tree with the same text and the same machine code. Nested scopes are
 * flattened: names that they share get a number, and variables live as long as their function. */
char *ptx_print(const struct ptx_module *module);

/* Writes one instruction as PTX text, without guard, labels and newline, truncated to `size` and
 * zero-terminated. Returns the length written. */
size_t ptx_print_instruction(const struct ptx_function *function,
                             const struct ptx_instruction *instruction, char *text, size_t size);

#endif
