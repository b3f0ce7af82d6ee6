/* reference: the result that an instruction must have, computed independently of the executor. */
#ifndef OVERLAP_TESTS_EXEC_REFERENCE_H
#define OVERLAP_TESTS_EXEC_REFERENCE_H

#include "tests/exec/compute.h"

/* The truth table with which lop3 is tested: without any symmetry. */
#define REFERENCE_LOP3 0x9cu

struct reference {
    uint64_t out;
    uint64_t second;
    bool any_nan;    /* out is a NaN; which NaN is not specified */
    double relative; /* not 0: permitted relative error */
    double absolute; /* permitted absolute error */
    double value;    /* the exact value, if an error is permitted */
};

/* Returns false when the file does not know the instruction. */
bool reference_int(const struct compute_key *key, const uint64_t *in, struct reference *reference);
bool reference_float(const struct compute_key *key, const uint64_t *in,
                     struct reference *reference);
/* The same for .rz, .rm, .rp. */
bool reference_directed(const struct compute_key *key, const uint64_t *in,
                        struct reference *reference);
bool reference_narrow(const struct compute_key *key, const uint64_t *in,
                      struct reference *reference);
bool reference_half(const struct compute_key *key, const uint64_t *in, struct reference *reference);

#endif
