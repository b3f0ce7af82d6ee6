/* Shared by all files: text, random numbers, new cases. */
#include "tests/differential/differential.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *diff_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fputs("differential: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

void diff_add(struct diff_text *text, const char *format, ...)
{
    for (;;) {
        va_list arguments;
        va_start(arguments, format);
        const size_t left = text->room - text->length;
        const int size =
            vsnprintf(text->bytes ? text->bytes + text->length : NULL, left, format, arguments);
        va_end(arguments);
        if (size >= 0 && (size_t)size < left) {
            text->length += (size_t)size;
            return;
        }
        const size_t room = 2 * text->room + (size_t)(size > 0 ? size : 0) + 4096;
        char *bytes = realloc(text->bytes, room);
        if (!bytes) {
            fputs("differential: out of memory\n", stderr);
            exit(2);
        }
        text->bytes = bytes;
        text->room = room;
    }
}

void diff_text_free(struct diff_text *text)
{
    free(text->bytes);
    *text = (struct diff_text){.bytes = NULL};
}

uint64_t diff_hash(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t value = seed ? seed : UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < size; k++) value = (value ^ at[k]) * UINT64_C(0x100000001b3);
    return value;
}

/* SplitMix64. */
uint64_t diff_bits(struct diff_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned diff_below(struct diff_random *random, unsigned limit)
{
    return (unsigned)((diff_bits(random) >> 32) * limit >> 32);
}

struct diff_case *diff_new(struct diff_cases *cases, const char *format, ...)
{
    if (cases->count == cases->room) {
        cases->room = 2 * cases->room + 1024;
        struct diff_case *moved = realloc(cases->cases, cases->room * sizeof *moved);
        if (!moved) {
            fputs("differential: out of memory\n", stderr);
            exit(2);
        }
        cases->cases = moved;
    }
    struct diff_case *one = &cases->cases[cases->count++];
    memset(one, 0, sizeof *one);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(one->name, sizeof one->name, format, arguments);
    va_end(arguments);
    return one;
}

struct diff_random diff_case_random(const struct diff_case *one, const char *purpose)
{
    const uint64_t seed = diff_hash(one->name, strcspn(one->name, "#"), 0);
    return (struct diff_random){.state = diff_hash(purpose, strlen(purpose), seed)};
}

void diff_fill_random(const struct diff_case *one, unsigned char *in)
{
    struct diff_random random = diff_case_random(one, "in");
    for (uint32_t k = 0; k + 8 <= one->in_bytes; k += 8) {
        const uint64_t bits = diff_bits(&random);
        memcpy(in + k, &bits, 8);
    }
}

void diff_all_cases(struct diff_cases *cases)
{
    diff_form_cases(cases);
    diff_memory_cases(cases);
    diff_warp_cases(cases);
    diff_control_cases(cases);
    diff_random_cases(cases);
}
