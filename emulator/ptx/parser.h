/* ptx's parser: its state while it reads a module, its memory, its ways to fail, and the next
 * token. internal.h lists which file parses what.
 *
 * Failure has one exit: ptx_fail records a sentence and jumps to ptx_parse, which frees the arena
 * and with it the unfinished module. ptx_complain records an error and lets the parse continue; the
 * module is refused at the end.
 */
#ifndef OVERLAP_PTX_PARSER_H
#define OVERLAP_PTX_PARSER_H

#include "emulator/ptx/lex.h"
#include "emulator/ptx/names.h"
#include "emulator/ptx/ptx.h"
#include "emulator/ptx/store.h"
#include "emulator/ptx/symbols.h"

#include <setjmp.h>

/* ---- limits: beyond any compiler's output; they bound what hostile text can cost ------------- */

enum {
    PTX_MAX_EXPRESSION = 64,     /* nested parentheses and signs */
    PTX_MAX_DIMENSIONS = 16,     /* of an array */
    PTX_MAX_OPERANDS = 64,       /* of one instruction */
    PTX_MAX_SUFFIXES = 24,       /* .words of one instruction */
    PTX_MAX_WORD = 64,           /* characters of an opcode, looked up by name */
    PTX_MAX_FILES = 65536,       /* highest .file number */
    PTX_MAX_REGISTERS = 1 << 24, /* used by one body */
};
#define PTX_MAX_BYTES (UINT64_C(1) << 48) /* of one variable */
#define PTX_MAX_ALIGNMENT (UINT64_C(1) << 24)

/* The module and what it owns; callers see `module` only. */
struct ptx_owner {
    struct ptx_module module;
    struct arena arena;
    struct ptx_map functions;  /* name to struct ptx_function */
    struct ptx_parser *parser; /* while bodies are unread; or NULL */
};

/* ---- the parser ------------------------------------------------------------------------------ */

#define PTX_RECENT_LOCATIONS 512

/* A .loc as written, to follow inlined_at chains. */
struct ptx_recent {
    uint32_t file, line, column;
    uint32_t outer_file, outer_line;
};

struct ptx_body {
    struct ptx_function *function;
    struct ptx_list instructions; /* struct ptx_instruction */
    struct ptx_list registers;    /* struct ptx_register */
    struct ptx_list variables;    /* struct ptx_variable * */
    struct ptx_list labels;       /* struct ptx_label */
    struct ptx_list tables;       /* struct ptx_table */
    struct ptx_list locations;    /* struct ptx_location */
    struct ptx_list references;   /* struct ptx_reference, unresolved */
    uint32_t reference_start[PTX_MAX_SCOPES + 2];
    struct ptx_given *given;
    uint32_t given_capacity; /* a power of two, or 0 */
    uint32_t given_count;
    uint32_t range_count;
    struct ptx_location location; /* of the next instruction */
    bool location_is_new;
    struct ptx_recent recent[PTX_RECENT_LOCATIONS];
    uint32_t recent_count;
};

/* A body that was skipped: where parsing resumes. */
struct ptx_unread {
    struct ptx_lexer lexer;
    struct ptx_token token;
    struct ptx_location location; /* of a .loc before the body */
};

struct ptx_parser {
    jmp_buf failure;
    struct ptx_owner *owner;
    struct ptx_diagnostics *diagnostics;
    struct ptx_lexer lexer;
    struct ptx_token token; /* the next one, not yet taken */
    const struct ptx_names *names;
    struct ptx_symbols symbols;
    struct ptx_body body;
    struct ptx_list variables;                     /* struct ptx_variable *, module scope */
    struct ptx_list functions;                     /* struct ptx_function * */
    struct ptx_list files;                         /* const char * by number */
    struct ptx_token operand_at[PTX_MAX_OPERANDS]; /* position of each operand, for messages */
    uint32_t expression_depth;
    bool heads; /* skip the bodies of entries */
};

/* ptx/parse.c: failure, memory, tokens */
_Noreturn void ptx_fail(struct ptx_parser *p, const struct ptx_token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ptx_complain(struct ptx_parser *p, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void *ptx_new(struct ptx_parser *p, size_t count, size_t size);
const char *ptx_copy_text(struct ptx_parser *p, const char *text, size_t length);
void *ptx_push(struct ptx_parser *p, struct ptx_list *list, size_t item_size);

void ptx_lex(struct ptx_parser *p, struct ptx_token *token);
/* Skips from behind a `{` to behind the matching `}`. Returns false when there is none. */
bool ptx_lex_past_block(struct ptx_parser *p);
void ptx_next(struct ptx_parser *p);                         /* advances to the next token */
bool ptx_at_sign(const struct ptx_parser *p, uint32_t sign); /* is the token this punctuation? */
bool ptx_take_sign(struct ptx_parser *p, uint32_t sign);     /* the same, and advances if so */
void ptx_expect_sign(struct ptx_parser *p, uint32_t sign, const char *where);
bool ptx_at_suffix(const struct ptx_parser *p, const char *text);
bool ptx_take_suffix(struct ptx_parser *p, const char *text);
struct ptx_token ptx_expect(struct ptx_parser *p, enum ptx_token_kind kind, const char *what);
/* Writes a token as messages show it: "`add`", "the end of the text". */
const char *ptx_show(const struct ptx_token *token, char buffer[64]);
bool ptx_token_is(const struct ptx_token *token, const char *text);

#endif
