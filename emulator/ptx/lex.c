/* Splits text into tokens (PTX ISA 4.2 to 4.5), one at a time; no token is kept. */
#include "emulator/ptx/internal.h"

#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* The C library's <ctype.h> depends on the locale of the program that loaded this library. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

static int hex_digit(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static char peek(const struct ptx_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->next) > ahead ? lexer->next[ahead] : '\0';
}

static void new_line(struct ptx_lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->next;
}

static void skip_line(struct ptx_lexer *lexer)
{
    while (lexer->next < lexer->end && *lexer->next != '\n') lexer->next++;
}

/* White space, both kinds of comment, and the preprocessor's # lines. */
static void skip_blank(struct ptx_parser *p, struct ptx_token *token)
{
    struct ptx_lexer *lexer = &p->lexer;
    for (;;) {
        char c = peek(lexer, 0);
        if (c == '\n') {
            lexer->next++;
            new_line(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->next++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            skip_line(lexer);
        } else if (c == '#' && lexer->next == lexer->line_start) {
            skip_line(lexer);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            token->line = lexer->line;
            token->column = (uint32_t)(lexer->next - lexer->line_start) + 1;
            lexer->next += 2;
            while (!(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
                if (lexer->next >= lexer->end) ptx_fail(p, token, "The comment is never closed.");
                if (*lexer->next++ == '\n') new_line(lexer);
            }
            lexer->next += 2;
        } else {
            return;
        }
    }
}

static double decimal(const char *text, size_t length)
{
    char copy[128];
    if (length >= sizeof copy) length = sizeof copy - 1;
    memcpy(copy, text, length);
    copy[length] = '\0';
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = plain != NULL ? strtod_l(copy, NULL, plain) : strtod(copy, NULL);
    if (plain != NULL) freelocale(plain);
    return value;
}

/* Lexes 0f or 0d followed by exactly `digits` hexadecimal digits. */
static bool lex_hex_float(struct ptx_lexer *lexer, struct ptx_token *token, size_t digits)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = hex_digit(peek(lexer, 2 + i));
        if (digit < 0) return false;
        bits = bits << 4 | (uint64_t)digit;
    }
    lexer->next += 2 + digits;
    token->value = bits;
    token->kind = digits == 8 ? PTX_TOKEN_SINGLE : PTX_TOKEN_DOUBLE;
    return true;
}

static void lex_integer(struct ptx_parser *p, struct ptx_token *token)
{
    struct ptx_lexer *lexer = &p->lexer;
    uint64_t base = 10;
    char second = peek(lexer, 1);
    if (peek(lexer, 0) == '0') {
        if (second == 'x' || second == 'X') base = 16;
        if ((second == 'b' || second == 'B') && hex_digit(peek(lexer, 2)) >= 0) base = 2;
        if (is_digit(second)) base = 8;
        if (base == 16 || base == 2) lexer->next += 2;
    }
    const char *first = lexer->next;
    uint64_t value = 0;
    for (int digit; (digit = hex_digit(peek(lexer, 0))) >= 0 && (base == 16 || digit < 10);
         lexer->next++) {
        if ((uint64_t)digit >= base)
            ptx_fail(p, token, "Digit %d does not belong in a number of base %d.", digit,
                     (int)base);
        if (value > (UINT64_MAX - (uint64_t)digit) / base)
            ptx_fail(p, token, "The number does not fit in 64 bits.");
        value = value * base + (uint64_t)digit;
    }
    if (lexer->next == first) ptx_fail(p, token, "The number has no digits.");
    token->kind = PTX_TOKEN_INTEGER;
    token->value = value;
    token->is_unsigned = value > INT64_MAX;
    if (peek(lexer, 0) == 'U' || peek(lexer, 0) == 'u') {
        token->is_unsigned = true;
        lexer->next++;
    }
}

/* Returns true when a fraction or an exponent follows the digits. */
static bool is_decimal_float(const struct ptx_lexer *lexer)
{
    size_t i = 0;
    while (is_digit(peek(lexer, i))) i++;
    if (peek(lexer, i) == '.') return is_digit(peek(lexer, i + 1)) || !is_word(peek(lexer, i + 1));
    if (peek(lexer, i) != 'e' && peek(lexer, i) != 'E') return false;
    char sign = peek(lexer, i + 1);
    return is_digit(sign) || ((sign == '-' || sign == '+') && is_digit(peek(lexer, i + 2)));
}

static void lex_decimal_float(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *first = lexer->next;
    while (is_digit(peek(lexer, 0)) || peek(lexer, 0) == '.') lexer->next++;
    if (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') {
        lexer->next++;
        if (peek(lexer, 0) == '-' || peek(lexer, 0) == '+') lexer->next++;
        while (is_digit(peek(lexer, 0))) lexer->next++;
    }
    double value = decimal(first, (size_t)(lexer->next - first));
    memcpy(&token->value, &value, sizeof value);
    token->kind = PTX_TOKEN_DOUBLE;
}

static void lex_number(struct ptx_parser *p, struct ptx_token *token)
{
    struct ptx_lexer *lexer = &p->lexer;
    char second = peek(lexer, 0) == '0' ? peek(lexer, 1) : '\0';
    bool done = false;
    if (second == 'f' || second == 'F') done = lex_hex_float(lexer, token, 8);
    if (second == 'd' || second == 'D') done = lex_hex_float(lexer, token, 16);
    if (!done && (second == 'f' || second == 'F' || second == 'd' || second == 'D'))
        ptx_fail(p, token,
                 "A floating-point constant has 8 hexadecimal digits after 0f and 16 "
                 "after 0d.");
    if (!done && is_decimal_float(lexer)) {
        lex_decimal_float(lexer, token);
    } else if (!done) {
        lex_integer(p, token);
    }
    if (is_word(peek(lexer, 0)))
        ptx_fail(p, token, "The number runs into the letter `%c`.", peek(lexer, 0));
}

static void lex_string(struct ptx_parser *p, struct ptx_token *token)
{
    struct ptx_lexer *lexer = &p->lexer;
    token->kind = PTX_TOKEN_STRING;
    token->text = ++lexer->next;
    while (lexer->next < lexer->end && *lexer->next != '"' && *lexer->next != '\n') {
        if (*lexer->next == '\\' && lexer->end - lexer->next > 1 && lexer->next[1] != '\n')
            lexer->next++;
        lexer->next++;
    }
    if (peek(lexer, 0) != '"') ptx_fail(p, token, "The string is never closed.");
    token->length = (uint32_t)(lexer->next - token->text);
    lexer->next++;
}

/* Examines only characters that may hide a brace. */
bool ptx_lex_past_block(struct ptx_parser *p)
{
    static const bool matters[UCHAR_MAX + 1] = {
        ['\n'] = true, ['{'] = true, ['}'] = true, ['"'] = true, ['/'] = true, ['#'] = true};
    struct ptx_lexer *lexer = &p->lexer;
    struct ptx_token token = p->token;
    for (uint32_t depth = 1; depth > 0;) {
        while (lexer->next < lexer->end && !matters[(unsigned char)*lexer->next]) lexer->next++;
        skip_blank(p, &token);
        const char c = peek(lexer, 0);
        if (lexer->next >= lexer->end) return false;
        if (c == '"') {
            lex_string(p, &token);
            continue;
        }
        if (c == '{') depth++;
        if (c == '}') depth--;
        lexer->next++;
    }
    return true;
}

static void lex_sign(struct ptx_parser *p, struct ptx_token *token)
{
    static const char pairs[][3] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    struct ptx_lexer *lexer = &p->lexer;
    char c = peek(lexer, 0);
    token->kind = PTX_TOKEN_SIGN;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (c == pairs[i][0] && peek(lexer, 1) == pairs[i][1]) {
            lexer->next += 2;
            token->value = PTX_SIGN(c, pairs[i][1]);
            return;
        }
    }
    if (strchr(",;:()[]{}<>=+-*/%!~&|^?@", c) == NULL)
        ptx_fail(p, token, "Byte 0x%02X cannot stand here in PTX.", (unsigned char)c);
    lexer->next++;
    token->value = (unsigned char)c;
}

/* Lexes a word; inside a suffix also `::`. */
static void lex_word(struct ptx_lexer *lexer, bool is_suffix)
{
    for (;;) {
        if (is_word(peek(lexer, 0))) {
            lexer->next++;
        } else if (is_suffix && peek(lexer, 0) == ':' && peek(lexer, 1) == ':' &&
                   is_word(peek(lexer, 2))) {
            lexer->next += 2;
        } else {
            return;
        }
    }
}

void ptx_lex(struct ptx_parser *p, struct ptx_token *token)
{
    struct ptx_lexer *lexer = &p->lexer;
    *token = (struct ptx_token){.kind = PTX_TOKEN_END};
    skip_blank(p, token);
    token->line = lexer->line;
    token->column = (uint32_t)(lexer->next - lexer->line_start) + 1;
    token->text = lexer->next;
    if (lexer->next >= lexer->end) return;

    char c = *lexer->next;
    char second = peek(lexer, 1);
    if (is_digit(c)) {
        lex_number(p, token);
    } else if (is_word(c) || (c == '%' && is_word(second) && !is_digit(second))) {
        lexer->next++;
        lex_word(lexer, false);
        token->kind = PTX_TOKEN_WORD;
    } else if (c == '.' && is_word(second)) {
        lexer->next++;
        token->text++;
        lex_word(lexer, true);
        token->kind = PTX_TOKEN_SUFFIX;
    } else if (c == '"') {
        lex_string(p, token);
        return;
    } else {
        lex_sign(p, token);
    }
    token->length = (uint32_t)(lexer->next - token->text);
}
