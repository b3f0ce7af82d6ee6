/* ptx: turns PTX text, as nvcc writes it (ISA up to 9.0), into a tree that another module can
 * execute, and back into text.
 *
 * It never executes anything, knows nothing of CUDA's API and trusts nothing that it reads: any
 * bytes give a module or sentences with the PTX line and column. An opcode that has no row, or
 * whose row is flagged unsupported, is not an error: its instruction carries its text, so that
 * whoever executes it can name it.
 *
 * What a module is made of is tree.h's, what the words of PTX are called tables.h's.
 *
 * Ownership: everything is owned by the module and lives until ptx_module_destroy; strings end
 * with NUL. A module is read-only after ptx_parse and may be read by several threads; after
 * ptx_parse_heads it is once all bodies are read.
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
    uint32_t count; /* of entries kept, at most PTX_DIAGNOSTIC_MAX */
    uint32_t total; /* of all found */
    struct ptx_diagnostic entries[PTX_DIAGNOSTIC_MAX];
};

/* Writes "line 12, column 5: sentence\n" for each entry; always ends with NUL. Returns the length
 * written. */
size_t ptx_diagnostics_print(const struct ptx_diagnostics *diagnostics, char *text, size_t size);

/* ---- the interface --------------------------------------------------------------------------- */

/* Makes now what all parsers share, so that a forked child has it too; otherwise the first does. */
void ptx_begin(void);
/* Parses and validates. `text` need not end with NUL; a NUL inside ends it. Returns NULL on an
 * error, with `diagnostics` (never NULL) filled; or when memory runs out, which is said there too.
 */
struct ptx_module *ptx_parse(const char *text, size_t length, struct ptx_diagnostics *diagnostics);
/* The same, but the bodies of entries are left unread: for text that a compiler has seen, of which
 * a program may use little. The text has to stay until the module is destroyed. */
struct ptx_module *ptx_parse_heads(const char *text, size_t length,
                                   struct ptx_diagnostics *diagnostics);
/* Reads the body of a function of that module if that has not been done. False: an error, as
 * ptx_parse has it, and the body stays unread. Nobody else may read the module meanwhile. */
bool ptx_function_read(struct ptx_module *module, const struct ptx_function *function,
                       struct ptx_diagnostics *diagnostics);
/* As if each entry had .maxnreg `most`, unless it has a smaller one. Before anybody else reads. */
void ptx_module_limit_registers(struct ptx_module *module, uint32_t most);
void ptx_module_destroy(struct ptx_module *module); /* NULL is fine */

/* NULL when there is none of that name. */
const struct ptx_function *ptx_function_find(const struct ptx_module *module, const char *name);

/* Writes the initial contents, `variable->size` bytes: numbers in place, zeros elsewhere, zeros
 * where relocations go. */
void ptx_variable_contents(const struct ptx_variable *variable, unsigned char *bytes);

/* The whole module as PTX text, allocated with malloc; NULL when memory runs out. Parsing it gives
 * a tree of the same text and the same machine code. Nested scopes are flattened: names that they
 * share get a number, and variables live as long as their function. */
char *ptx_print(const struct ptx_module *module);

/* One instruction as PTX text, without guard labels and newline; cut at `size`, ends with NUL. */
size_t ptx_print_instruction(const struct ptx_function *function,
                             const struct ptx_instruction *instruction, char *text, size_t size);

#endif
