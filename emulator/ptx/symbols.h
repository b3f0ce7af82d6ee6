/* ptx's symbols: the names of a module and what they stand for, scope by scope (symbols.c). */
#ifndef OVERLAP_PTX_SYMBOLS_H
#define OVERLAP_PTX_SYMBOLS_H

#include "emulator/ptx/lex.h"
#include "emulator/ptx/store.h"
#include "emulator/ptx/tree.h"

enum { PTX_MAX_SCOPES = 256 }; /* nested { } in a body */

enum ptx_symbol_kind {
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_FUNCTION,
    PTX_SYMBOL_REGISTER, /* index, or the first of `count` for a vector register */
    PTX_SYMBOL_RANGE,    /* %r<count> */
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TABLE,
    PTX_SYMBOL_PROTOTYPE,
};

struct ptx_symbol {
    const char *name;
    uint32_t length;
    uint32_t hash;
    enum ptx_symbol_kind kind;
    uint32_t scope;          /* depth; 0: the module's */
    struct ptx_symbol *next; /* in its bucket: older symbols, which this one hides */
    uint32_t index;          /* REGISTER, LABEL, TABLE; RANGE: its number */
    uint32_t count;          /* RANGE: how many; REGISTER: 1, or elements of a vector */
    enum ptx_type type;      /* RANGE, REGISTER */
    struct ptx_variable *variable;
    struct ptx_function *function;
    const struct ptx_prototype *prototype;
};

struct ptx_symbols {
    struct ptx_symbol **buckets;
    uint32_t bucket_count;                    /* a power of two */
    struct ptx_list stack;                    /* struct ptx_symbol *, oldest first */
    uint32_t scope;                           /* depth of the current scope */
    uint32_t scope_start[PTX_MAX_SCOPES + 2]; /* stack's count when each scope was opened */
};

/* A use of a label before the label's scope is complete. */
struct ptx_reference {
    uint32_t *target; /* receives the instruction index */
    const char *name; /* in the text */
    uint32_t length;
    uint32_t line;
    uint32_t column;
};

/* A register of a range that has been used. The key is made of the range's number and the
 * register's. */
struct ptx_given {
    uint64_t key; /* 0: free */
    uint32_t index;
};

#endif
