/* abi: the numbers behind the names of curand.h's enumerations, as a program that was compiled with
 * that header passes them. This header declares no functions and includes nothing of NVIDIA's.
 *
 * Source: curand.h of CUDA 13.0 (cuRAND 10.4).
 */
#ifndef OVERLAP_STANDINS_CURAND_ABI_H
#define OVERLAP_STANDINS_CURAND_ABI_H

enum rand_status {
    RAND_SUCCESS = 0,
    RAND_NOT_INITIALIZED = 101,
    RAND_ALLOCATION_FAILED = 102,
    RAND_TYPE_ERROR = 103,
    RAND_OUT_OF_RANGE = 104,
    RAND_LENGTH_NOT_MULTIPLE = 105,
    RAND_LAUNCH_FAILURE = 201,
    RAND_INITIALIZATION_FAILED = 203,
    RAND_ARCH_MISMATCH = 204,
};

enum rand_type {
    RAND_PSEUDO_DEFAULT = 100,
    RAND_XORWOW = 101,
    RAND_MRG32K3A = 121,
    RAND_MTGP32 = 141,
    RAND_MT19937 = 142,
    RAND_PHILOX = 161,
    RAND_QUASI_DEFAULT = 200,
    RAND_SOBOL32 = 201,
    RAND_SCRAMBLED_SOBOL32 = 202,
    RAND_SOBOL64 = 203,
    RAND_SCRAMBLED_SOBOL64 = 204,
};

enum rand_ordering {
    RAND_ORDERING_BEST = 100,
    RAND_ORDERING_DEFAULT = 101,
    RAND_ORDERING_SEEDED = 102,
    RAND_ORDERING_LEGACY = 103,
    RAND_ORDERING_DYNAMIC = 104,
};

/* libraryPropertyType, of library_types.h. */
enum rand_property { RAND_MAJOR = 0, RAND_MINOR = 1, RAND_PATCH = 2 };

#endif
