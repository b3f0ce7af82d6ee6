/* ptx's tokens (lex.c). */
#ifndef OVERLAP_PTX_LEX_H
#define OVERLAP_PTX_LEX_H

#include <stdbool.h>
#include <stdint.h>

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_WORD,    /* add, %r1, $L__BB0_1 */
    PTX_TOKEN_SUFFIX,  /* .global, .L2::128B: text is without the dot */
    PTX_TOKEN_INTEGER, /* value */
    PTX_TOKEN_SINGLE,  /* 0f3F800000: value is the bits */
    PTX_TOKEN_DOUBLE,  /* 0d..., 1.5: value is the bits of a double */
    PTX_TOKEN_STRING,  /* text is between the quotes */
    PTX_TOKEN_SIGN,    /* punctuation: value is the character, or PTX_SIGN of two */
};
#define PTX_SIGN(a, b) (((uint32_t)(a) << 8) | (uint32_t)(b))

struct ptx_token {
    enum ptx_token_kind kind;
    bool is_unsigned; /* INTEGER: has the suffix U, or needs all 64 bits */
    const char *text;
    uint32_t length;
    uint32_t line;
    uint32_t column;
    uint64_t value;
};

struct ptx_lexer {
    const char *next;
    const char *end;
    const char *line_start;
    uint32_t line;
};

#endif
