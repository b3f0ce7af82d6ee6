/* compute: runs one computing instruction on the executor for a list of inputs. */
#ifndef OVERLAP_TESTS_EXEC_COMPUTE_H
#define OVERLAP_TESTS_EXEC_COMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMPUTE_CASES = 1536, COMPUTE_SOURCES = 4 };

/* An instruction split into its parts. */
struct compute_key {
    char text[64];
    char word[8][16]; /* opcode, modifiers, types */
    unsigned words;
    char shape[6][8];  /* D A B C E and "cc" */
    unsigned operands; /* destination included, "cc" not */
    bool carry;
};

struct compute_case {
    uint64_t in[COMPUTE_SOURCES]; /* bits; bits beyond the type must be ignored */
    uint64_t out;                 /* bits of the destination's type */
    uint64_t second;              /* complement predicate, or carry flag afterwards */
};

/* Parses `length` characters of a row's keys, and the row's shape. */
struct compute_key compute_key(const char *text, size_t length, const char *shape);
bool compute_has(const struct compute_key *key, const char *word);
/* The `index`-th word from the end: 0 is the last type. */
const char *compute_type(const struct compute_key *key, unsigned index);

unsigned compute_bits(const char *type); /* 32 for "s32"; 1 for "p" */

/* Fills the inputs: edge values of each operand's type, combined, and random ones. */
void compute_inputs(const struct compute_key *key, struct compute_case *cases);
/* Runs the cases; fails the test if the kernel does not run to its end. `extra` is appended to the
 * operands (", 0x96"). */
void compute_run(const struct compute_key *key, const char *extra, struct compute_case *cases);

#endif
