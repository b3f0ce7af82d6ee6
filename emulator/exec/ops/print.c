/* printf in kernels: C's conversions over arguments that nvcc packed into a buffer, each aligned to
 * its size. Nothing that a kernel passes is trusted: strings and the buffer are read only where
 * memory is valid, and conversions are rebuilt, never passed on. */
#include "emulator/exec/ops/private.h"

#include <stdio.h>
#include <string.h>

/* A parsed conversion. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    unsigned bytes;       /* of an integer argument: 1, 2, 4, 8 */
    char letter;
};

struct printer {
    struct exec_warp *warp;
    const struct exec_inst *inst;
    unsigned lane;
    uint64_t next; /* device address of the next argument */
    int taken;     /* arguments taken */
    char text[512];
    size_t used;
};

static void flush(struct printer *printer, const size_t *arguments)
{
    const struct exec_launch *launch = printer->warp->worker->launch;
    if (launch->print != NULL) launch->print(launch->user, printer->text, printer->used, arguments);
    printer->used = 0;
}

static void put(struct printer *printer, const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        if (printer->used == sizeof printer->text) flush(printer, NULL);
        printer->text[printer->used++] = text[k];
    }
}

static bool take(struct printer *printer, unsigned size, uint64_t *value)
{
    size_t left;
    *value = 0;
    printer->next = (printer->next + size - 1) / size * size;
    const unsigned char *bytes = exec_peek(printer->warp, printer->lane, printer->next, &left);
    if (bytes == NULL || left < size) {
        exec_stop_access(printer->warp, printer->inst, printer->lane, printer->next, size,
                         EXEC_LOAD, true);
        return false;
    }
    memcpy(value, bytes, size);
    printer->next += size;
    printer->taken++;
    return true;
}

static bool take_int(struct printer *printer, int *value)
{
    uint64_t bits;
    if (!take(printer, 4, &bits)) return false;
    *value = (int)(uint32_t)bits;
    return true;
}

/* Parses `*`, or a number, clamped to at most four digits. */
static const char *parse_number(struct printer *printer, const char *at, int *number, bool *fine)
{
    if (*at == '*') {
        *fine = take_int(printer, number);
        return at + 1;
    }
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        if (*number < 1000) *number = 10 * *number + (*at - '0');
    return at;
}

/* `at` is behind the %. Returns where the conversion ends. `*fine` becomes false on a fault. */
static const char *parse(struct printer *printer, const char *at, struct conversion *conversion,
                         bool *fine)
{
    size_t flags = 0;
    *conversion = (struct conversion){.width = -1, .precision = -1, .bytes = 4};
    for (; *at && strchr("-+ #0", *at) != NULL; at++)
        if (flags < 5 && strchr(conversion->flags, *at) == NULL) conversion->flags[flags++] = *at;
    if (*at == '*' || (*at >= '0' && *at <= '9'))
        at = parse_number(printer, at, &conversion->width, fine);
    if (conversion->width < 0 && conversion->width != -1) {
        if (strchr(conversion->flags, '-') == NULL) conversion->flags[flags] = '-';
        conversion->width = -(conversion->width < -1000 ? -1000 : conversion->width);
    }
    if (*at == '.') at = parse_number(printer, at + 1, &conversion->precision, fine);
    for (; *at && strchr("hlqjztL", *at) != NULL; at++) {
        if (*at == 'h')
            conversion->bytes = conversion->bytes == 2 ? 1 : 2;
        else if (*at != 'L')
            conversion->bytes = 8;
    }
    conversion->letter = *at;
    return *at ? at + 1 : at;
}

/* Writes the conversion as a C format; `length` is its length modifier. */
static void spell(const struct conversion *conversion, const char *length, char *format,
                  size_t size)
{
    size_t used = (size_t)snprintf(format, size, "%%%s", conversion->flags);
    if (conversion->width >= 0)
        used += (size_t)snprintf(format + used, size - used, "%d",
                                 conversion->width > 1000 ? 1000 : conversion->width);
    if (conversion->precision >= 0)
        used += (size_t)snprintf(format + used, size - used, ".%d",
                                 conversion->precision > 1000 ? 1000 : conversion->precision);
    snprintf(format + used, size - used, "%s%c", length, conversion->letter);
}

static void print_text(struct printer *printer, const struct conversion *conversion,
                       const char *text, size_t length)
{
    const bool left = strchr(conversion->flags, '-');
    const size_t width = conversion->width > 0 ? (size_t)conversion->width : 0;
    if (conversion->precision >= 0 && length > (size_t)conversion->precision)
        length = (size_t)conversion->precision;
    for (size_t k = length; k < width && !left && k < 1000 + length; k++) put(printer, " ", 1);
    put(printer, text, length);
    for (size_t k = length; k < width && left && k < 1000 + length; k++) put(printer, " ", 1);
}

static bool print_string(struct printer *printer, const struct conversion *conversion)
{
    uint64_t address;
    size_t left;
    if (!take(printer, 8, &address)) return false;
    if (!address) {
        print_text(printer, conversion, "(null)", 6);
        return true;
    }
    const unsigned char *bytes = exec_peek(printer->warp, printer->lane, address, &left);
    if (bytes == NULL) {
        exec_stop_access(printer->warp, printer->inst, printer->lane, address, 1, EXEC_LOAD, true);
        return false;
    }
    size_t length = 0;
    while (length < left && bytes[length]) length++;
    print_text(printer, conversion, (const char *)bytes, length);
    return true;
}

enum { CONVERTED = 2048 }; /* bytes of one conversion's text, at most */

static bool put_converted(struct printer *printer, const char *text, int length)
{
    if (length > 0) put(printer, text, (size_t)(length < CONVERTED ? length : CONVERTED - 1));
    return true;
}

static bool convert_integer(struct printer *printer, const struct conversion *conversion)
{
    char format[48], text[CONVERTED];
    uint64_t bits;
    const unsigned shift = 64 - 8 * conversion->bytes;
    const bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
    if (!take(printer, conversion->bytes == 8 ? 8 : 4, &bits)) return false;
    spell(conversion, "ll", format, sizeof format);
    return put_converted(
        printer, text,
        is_signed
            ? snprintf(text, CONVERTED, format, (long long)(bits << shift) >> shift)
            : snprintf(text, CONVERTED, format, (unsigned long long)(bits << shift) >> shift));
}

static bool convert_real(struct printer *printer, const struct conversion *conversion)
{
    char format[48], text[CONVERTED];
    uint64_t bits;
    double value;
    if (!take(printer, 8, &bits)) return false;
    memcpy(&value, &bits, sizeof value);
    spell(conversion, "", format, sizeof format);
    return put_converted(printer, text, snprintf(text, CONVERTED, format, value));
}

static bool convert_pointer(struct printer *printer, const struct conversion *conversion)
{
    char text[24];
    uint64_t bits;
    if (!take(printer, 8, &bits)) return false;
    const int length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)bits);
    print_text(printer, conversion, text, (size_t)length);
    return true;
}

static bool convert_character(struct printer *printer, const struct conversion *conversion)
{
    uint64_t bits;
    if (!take(printer, 4, &bits)) return false;
    const char character = (char)bits;
    print_text(printer, conversion, &character, 1);
    return true;
}

static bool convert(struct printer *printer, const struct conversion *conversion)
{
    uint64_t ignored;
    switch (conversion->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        return convert_integer(printer, conversion);
    case 'c':
        return convert_character(printer, conversion);
    case 'p':
        return convert_pointer(printer, conversion);
    case 's':
        return print_string(printer, conversion);
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return convert_real(printer, conversion);
    case 'n':
        return take(printer, 8, &ignored); /* CUDA ignores it */
    case '%':
        put(printer, "%", 1);
        return true;
    default: /* copied unchanged, as CUDA does */
        put(printer, "%", 1);
        if (conversion->letter) put(printer, &conversion->letter, 1);
        return true;
    }
}

bool exec_print(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                uint64_t format, uint64_t arguments, int *result)
{
    struct printer printer = {.warp = warp, .inst = inst, .lane = lane, .next = arguments};
    char text[4096];
    size_t left;
    *result = -1;
    if (!format) return true;
    const unsigned char *bytes = exec_peek(warp, lane, format, &left);
    if (bytes == NULL) {
        exec_stop_access(warp, inst, lane, format, 1, EXEC_LOAD, true);
        return false;
    }
    size_t length = 0;
    while (length < left && length + 1 < sizeof text && bytes[length]) {
        text[length] = (char)bytes[length];
        length++;
    }
    text[length] = 0;
    for (const char *at = text; *at;) {
        const size_t plain = strcspn(at, "%");
        put(&printer, at, plain);
        at += plain;
        if (!*at) break;
        struct conversion conversion;
        bool fine = true;
        at = parse(&printer, at + 1, &conversion, &fine);
        if (!fine || !convert(&printer, &conversion)) return false;
    }
    flush(&printer, &(size_t){printer.next - arguments});
    *result = printer.taken;
    return true;
}
