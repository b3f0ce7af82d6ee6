/* reference: what an instruction must give, computed independently of the executor. */
#ifndef OVERLAP_TESTS_EXEC_REFERENCE_H
#define OVERLAP_TESTS_EXEC_REFERENCE_H

#include "tests/exec/compute.h"

/* The truth table that lop3 is tested with: nothing symmetric. */
#define REFERENCE_LOP3 0x9cu

struct reference {
    uint64_t out;
    uint64_t second;
    bool any_nan;    /* out is a NaN, and which one is left open */
    double relative; /* not 0: the error that is allowed, relative */
    double absolute; /* and absolute */
    double value;    /* then: the exact value */
};

/* false: the instruction is none that the file knows. */
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
