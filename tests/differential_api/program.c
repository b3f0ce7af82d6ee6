#include "tests/differential_api/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FAMILY(name, programs, per_process) void family_##name(struct program *p);
#include "tests/differential_api/families.def"
#undef FAMILY

#define FAMILY(name, programs, per_process) {#name, programs, per_process, family_##name},
const struct family families[] = {
#include "tests/differential_api/families.def"
};
#undef FAMILY
const size_t family_count = sizeof families / sizeof *families;

/* splitmix64 */
uint64_t draw64(struct program *p)
{
    uint64_t z = (p->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned draw(struct program *p, unsigned below)
{
    return (unsigned)((draw64(p) >> 32) * below >> 32);
}

bool chance(struct program *p, unsigned percent)
{
    return draw(p, 100) < percent;
}

enum { LINE = 512 };

static uint32_t hash_on(uint32_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}

/* Adds the next request to the hash: a call as it is written, or the format in which a result is
 * logged. */
static void asks(struct program *p, const char *text, size_t length)
{
    p->text = hash_on(hash_on(p->text, text, length), "\n", 1);
}

static void write_line(struct program *p, char *line, int length)
{
    if (length >= LINE - 1) length = LINE - 2;
    line[length] = '\n';
    size_t left = (size_t)length + 1;
    while (left > 0) {
        ssize_t wrote = write(p->log, line, left);
        if (wrote <= 0) _exit(3); /* the reader is gone */
        line += wrote;
        left -= (size_t)wrote;
    }
}

void note(struct program *p, const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    asks(p, format, strlen(format));
    va_start(arguments, format);
    int length = 2 + vsnprintf(line + 2, sizeof line - 2, format, arguments);
    va_end(arguments);
    memcpy(line, "  ", 2);
    write_line(p, line, length);
}

static void write_call(struct program *p, int code, const char *format, va_list arguments)
{
    char line[LINE];
    int length = vsnprintf(line, sizeof line - 16, format, arguments);
    if (length > LINE - 17) length = LINE - 17;
    asks(p, line, (size_t)length);
    length += snprintf(line + length, 16, " = %d", code);
    write_line(p, line, length);
}

cudaError_t rt(struct program *p, cudaError_t code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_call(p, (int)code, format, arguments);
    va_end(arguments);
    return code;
}

CUresult dr(struct program *p, CUresult code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_call(p, (int)code, format, arguments);
    va_end(arguments);
    return code;
}

uint32_t digest(const void *bytes, size_t size)
{
    return hash_on(2166136261u, bytes, size); /* FNV-1a */
}

void act(struct program *p, const struct action *actions, size_t count, void *self)
{
    unsigned all = 0;
    for (size_t i = 0; i < count; i++) all += actions[i].weight;
    unsigned at = draw(p, all);
    size_t i = 0;
    while (at >= actions[i].weight) at -= actions[i++].weight;
    actions[i].act(p, self);
}
