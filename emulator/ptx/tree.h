/* ptx's tree: the parts of a parsed module. Read-only outside the parser; the module owns all of it
 * (ptx.h), and strings are zero-terminated.
 *
 * Source: PTX ISA 9.0.
 */
#ifndef OVERLAP_PTX_TREE_H
#define OVERLAP_PTX_TREE_H

#include "emulator/ptx/instruction.h"

enum ptx_linkage { PTX_PRIVATE, PTX_VISIBLE, PTX_EXTERN, PTX_WEAK, PTX_COMMON };

/* An address, or a part of one, inside an initialiser. `bytes` at `offset` receive bits
 * [shift, shift + 8 * bytes) of (address of the symbol + addend). */
struct ptx_relocation {
    uint64_t offset; /* bytes from the variable's start */
    uint32_t bytes;
    uint32_t shift; /* bits; from mask forms such as 0xFF00(symbol) */
    int64_t addend;
    bool generic; /* generic(symbol): the generic address, not the one inside its state space */
    const struct ptx_variable *variable; /* exactly one of these two */
    const struct ptx_function *function;
};

struct ptx_variable {
    const char *name;
    unsigned space;      /* PTX_SPACE_GLOBAL, _CONST, _SHARED, _LOCAL, _PARAM or PTX_SPACE_REG */
    enum ptx_type type;  /* of one element */
    uint32_t vector;     /* 1, 2, 4 or 8 */
    uint64_t alignment;  /* bytes, a power of two */
    uint64_t size;       /* bytes; 0 for `name[]` */
    bool is_array;       /* has dimensions, or is `name[]` */
    bool is_unsized;     /* `name[]`: dynamic shared memory */
    uint32_t dimensions; /* at most 16 */
    const uint64_t *dimension;
    enum ptx_linkage linkage;
    bool managed;
    bool initialised;
    const struct ptx_relocation *relocations;
    uint32_t relocation_count;
    const void *contents;                /* see ptx_variable_contents */
    const struct ptx_function *function; /* NULL: module scope */
    uint32_t index;                      /* in the module's or the function's variables */
    uint32_t reg;                        /* PTX_SPACE_REG: its register */
    uint32_t first; /* scope: instructions [first, end) of its function; a call sequence's */
    uint32_t end;   /* .param variables with disjoint scopes may share storage */
    uint32_t line;  /* of the PTX */
};

struct ptx_register {
    const char *name; /* as written; not unique where nested scopes reuse it */
    enum ptx_type type;
};

/* A function's signature. Every function has one; .callprototype declares others. */
struct ptx_prototype {
    const char *name;
    const struct ptx_variable *const *returns; /* space .param or PTX_SPACE_REG */
    uint32_t return_count;
    const struct ptx_variable *const *parameters;
    uint32_t parameter_count;
    bool noreturn;
};

struct ptx_label {
    const char *name;
    uint32_t target; /* instruction index, at most the count */
};

/* .branchtargets: the labels that brx.idx chooses from. */
struct ptx_table {
    const char *name;
    const struct ptx_label *labels;
    uint32_t count;
};

struct ptx_function {
    const char *name;
    enum ptx_linkage linkage;
    bool is_entry;
    bool is_defined;                     /* has a body */
    struct ptx_unread *unread;           /* the body until ptx_function_read, otherwise NULL */
    const struct ptx_function *alias_of; /* .alias, or NULL */
    struct ptx_prototype prototype;

    const struct ptx_instruction *instructions;
    uint32_t instruction_count;
    const struct ptx_register *registers; /* dense: only those that the body uses */
    uint32_t register_count;
    const struct ptx_variable *const *variables; /* of the body, all scopes, no parameters */
    uint32_t variable_count;
    const struct ptx_label *labels;
    uint32_t label_count;
    const struct ptx_table *tables;
    uint32_t table_count;
    const struct ptx_location *locations; /* [0] is empty */
    uint32_t location_count;

    uint32_t max_threads[3];      /* .maxntid, or zeros */
    uint32_t required_threads[3]; /* .reqntid, or zeros */
    uint32_t min_blocks;          /* .minnctapersm, or 0 */
    uint32_t max_registers;       /* .maxnreg, or 0 */
    uint32_t cluster[3];          /* .reqnctapercluster, or zeros */
    bool explicit_cluster;        /* .explicitcluster */
    bool blocks_are_clusters;     /* .blocksareclusters */
    uint32_t index;               /* in the module's functions */
    uint32_t line;                /* of the PTX, of the body or else the declaration */
};

struct ptx_module {
    uint32_t version_major; /* .version 9.0 */
    uint32_t version_minor;
    const char *target;    /* "sm_75" */
    uint32_t address_size; /* 32 or 64 */
    const struct ptx_variable *const *variables;
    uint32_t variable_count;
    const struct ptx_function *const *functions; /* entries, device functions, declarations */
    uint32_t function_count;
    const char *const *files; /* by .file number; NULL where none was given */
    uint32_t file_count;      /* highest number + 1 */
};

#endif
