/* The student's template of lesson 07, made from operators that the student has not seen. Compiled
 * with each submission, so it includes nothing that takes time, and does nothing but call: a macro
 * or an overload in the submission's header could change whatever else stood here. */
#include "grader/lessons/07_reductions/calls.h"

#include "reductions.cuh"

/* ---- the operators ------------------------------------------------------------------------- */

/* Integers are added as unsigned ones, which wrap: signed overflow is undefined. */
struct Sum {
    __device__ int32_t operator()(const int32_t &a, const int32_t &b) const
    {
        return (int32_t)((uint32_t)a + (uint32_t)b);
    }
    __device__ int64_t operator()(const int64_t &a, const int64_t &b) const
    {
        return (int64_t)((uint64_t)a + (uint64_t)b);
    }
    __device__ float operator()(const float &a, const float &b) const
    {
        return a + b;
    }
};

struct Maximum {
    __device__ float operator()(const float &a, const float &b) const
    {
        return a < b ? b : a;
    }
};

struct Minimum {
    __device__ int32_t operator()(const int32_t &a, const int32_t &b) const
    {
        return b < a ? b : a;
    }
};

struct Product {
    __device__ uint64_t operator()(const uint64_t &a, const uint64_t &b) const
    {
        return a * b;
    }
};

/* An operator with a value of its own. */
struct Modular {
    uint32_t prime;
    __device__ uint32_t operator()(const uint32_t &a, const uint32_t &b) const
    {
        return (uint32_t)((uint64_t)a * b % prime);
    }
};

struct Range {
    __device__ reduction_range operator()(const reduction_range &a, const reduction_range &b) const
    {
        reduction_range both;
        both.low = b.low < a.low ? b.low : a.low;
        both.high = a.high < b.high ? b.high : a.high;
        both.mixed = a.mixed ^ b.mixed;
        return both;
    }
};

/* Every byte for itself. */
struct Bytewise {
    template <typename T> __device__ T operator()(const T &a, const T &b) const
    {
        T both;
        for (size_t i = 0; i < sizeof both.bytes; i++)
            both.bytes[i] = (uint8_t)(a.bytes[i] + b.bytes[i]);
        return both;
    }
};

/* A sum that takes its time: half of the blocks wait, if there is somewhere to wait, until they are
 * told to go on. Host memory: the first number says that they wait, the second lets them go. */
struct HeldSum {
    volatile int *gate;
    __device__ int64_t operator()(const int64_t &a, const int64_t &b) const
    {
        if (gate && blockIdx.x % 2) {
            if (blockIdx.x == 1 && threadIdx.x == 0) gate[0] = 1;
            while (!gate[1]) {
            }
        }
        return Sum()(a, b);
    }
};

template <typename Operator> Operator operator_for(const reduction_case &)
{
    return Operator();
}

template <> Modular operator_for<Modular>(const reduction_case &wanted)
{
    Modular modular = {wanted.parameter};
    return modular;
}

volatile int *reduction_held_sums_gate;

template <> HeldSum operator_for<HeldSum>(const reduction_case &)
{
    HeldSum sum = {reduction_held_sums_gate};
    return sum;
}

/* ---- the calls ----------------------------------------------------------------------------- */

template <typename T, typename Operator>
static cudaError_t call(const struct reduction_case *wanted, const void *array, void *result,
                        const void *init, cudaStream_t stream)
{
    Reduction<T, Operator> reduction = {operator_for<Operator>(*wanted)};
    return reduction((const T *)array, (size_t)wanted->size, (T *)result, (const T *)init, stream);
}

const struct reduction_student reduction_students[REDUCTION_KINDS] = {
#define KIND(name, type, operation, pool, words) {sizeof(type), call<type, operation>},
    REDUCTION_TABLE(KIND)
#undef KIND
};

const struct reduction_student reduction_held_sum = {sizeof(int64_t), call<int64_t, HeldSum>};
