// The kernels behind the stand-in for cuRAND: one for each generator and distribution. The
// generators and the transforms into distributions are those of NVIDIA's curand_kernel.h. The start
// of a subsequence is computed here, by the lanes of a block together: curand_init would take
// longer than all the numbers of a call.
#include "emulator/standins/curand/parameters.h"

#include <curand_kernel.h>

// ---- places -------------------------------------------------------------------------------------

// How often each captured call has run.
__device__ uint64_t replays[RAND_MOST_REPLAYS];

extern "C" __global__ void curand_replayed(const __grid_constant__ rand_replayed p)
{
    replays[p.counter]++;
}

// A later launch of a captured call draws 2^40 numbers further on in each subsequence than the one
// before.
__device__ uint64_t replay_distance(const rand_fill &p)
{
    return p.counter == 0 ? 0 : replays[p.counter - 1] << 40;
}

// How many numbers have been drawn of a subsequence.
__device__ uint64_t drawn(const rand_place &place, uint32_t sequence)
{
    uint32_t i = 0;
    while (i + 1 < place.segments && place.segment[i + 1].begin <= sequence) i++;
    return place.segment[i].draws;
}

// The fewest that have been drawn of a subsequence of a block.
__device__ uint64_t drawn_at_least(const rand_place &place, uint32_t begin)
{
    uint64_t least = drawn(place, begin);
    for (uint32_t i = 0; i < place.segments; i++) {
        const rand_segment &segment = place.segment[i];
        if (segment.begin >= begin && segment.begin < begin + RAND_BLOCK && segment.draws < least)
            least = segment.draws;
    }
    return least;
}

// ---- distributions ------------------------------------------------------------------------------

// A result takes one number of its subsequence: the host could not record how far a subsequence has
// come if the count depended on the results, as it does in Knuth's method. For a large lambda, that
// number is part of the key of a Philox generator that serves this result only.
template <class State>
__device__ uint32_t poisson(State &state, const rand_fill &p, uint32_t sequence, uint64_t position)
{
    const double SMALL = 64;
    const uint32_t number = curand(&state);
    if (p.mean < SMALL) return _curand_poisson_ITR_double(number, p.mean);
    curandStatePhilox4_32_10_t own;
    curand_init(p.seed ^ ((uint64_t)number << 32 | 0x9e3779b9), position << 20 | sequence, 0, &own);
    return curand_poisson(&own, p.mean);
}

// What a subsequence contributes to a call: one unit, stored at out[unit * COUNT].
struct Bits {
    enum { COUNT = 1 };
    template <class State>
    static __device__ void store(const rand_fill &p, uint64_t unit, State &state, uint32_t)
    {
        ((uint32_t *)p.out)[unit] = curand(&state);
    }
};
struct Uniform {
    enum { COUNT = 1 };
    template <class State>
    static __device__ void store(const rand_fill &p, uint64_t unit, State &state, uint32_t)
    {
        ((float *)p.out)[unit] = curand_uniform(&state);
    }
};
struct UniformDouble {
    enum { COUNT = 1 };
    template <class State>
    static __device__ void store(const rand_fill &p, uint64_t unit, State &state, uint32_t)
    {
        ((double *)p.out)[unit] = curand_uniform_double(&state);
    }
};
struct Poisson {
    enum { COUNT = 1 };
    template <class State>
    static __device__ void store(const rand_fill &p, uint64_t unit, State &state, uint32_t sequence)
    {
        const uint64_t position = drawn(p.place, sequence) + unit / p.place.sequences;
        ((uint32_t *)p.out)[unit] = poisson(state, p, sequence, position + replay_distance(p));
    }
};

__device__ float scaled(const rand_fill &p, float x)
{
    return (float)p.mean + (float)p.deviation * x;
}
__device__ double scaled(const rand_fill &p, double x)
{
    return p.mean + p.deviation * x;
}

template <bool LOG> struct Normal {
    enum { COUNT = 2 };
    template <class State>
    static __device__ void store(const rand_fill &p, uint64_t unit, State &state, uint32_t)
    {
        const float2 pair = curand_normal2(&state);
        const float x = scaled(p, pair.x), y = scaled(p, pair.y);
        ((float *)p.out)[2 * unit] = LOG ? expf(x) : x;
        ((float *)p.out)[2 * unit + 1] = LOG ? expf(y) : y;
    }
};
template <bool LOG> struct NormalDouble {
    enum { COUNT = 2 };
    template <class State>
    static __device__ void store(const rand_fill &p, uint64_t unit, State &state, uint32_t)
    {
        const double2 pair = curand_normal2_double(&state);
        const double x = scaled(p, pair.x), y = scaled(p, pair.y);
        ((double *)p.out)[2 * unit] = LOG ? exp(x) : x;
        ((double *)p.out)[2 * unit + 1] = LOG ? exp(y) : y;
    }
};

// ---- XORWOW -------------------------------------------------------------------------------------

// curand_precalc.h has matrices for powers of DIGIT, with a row of WORDS words for each bit of a
// state.
enum { WORDS = 5, LANES = 32, DIGIT = 4, NIBBLES = 40, VALUES = 16, FOUR = 4 };

// state = matrix * state, over the field of two elements, by the lanes of a warp together: each
// takes one bit of each word.
__device__ void multiply_together(const uint32_t *matrix, uint32_t *state)
{
    const uint32_t lane = threadIdx.x % LANES;
    uint32_t sum[WORDS] = {};
    for (int word = 0; word < WORDS; word++) {
        const uint32_t taken = 0 - (state[word] >> lane & 1);
        const uint32_t *row = matrix + (word * LANES + lane) * WORDS;
#pragma unroll
        for (int k = 0; k < WORDS; k++) sum[k] ^= row[k] & taken;
    }
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        for (int other = LANES / 2; other > 0; other /= 2)
            sum[k] ^= __shfl_xor_sync(0xffffffff, sum[k], other);
        state[k] = sum[k];
    }
}

// Multiplies by the matrices that make up `n`.
__device__ void skip_together(uint64_t n, const uint32_t (*matrices)[WORDS * WORDS * LANES],
                              uint32_t *state)
{
    for (int power = 0; n != 0; power++, n /= DIGIT)
        for (uint32_t i = 0; i < n % DIGIT; i++) multiply_together(matrices[power], state);
}

typedef uint32_t Table[NIBBLES][VALUES][WORDS];

// The products of a matrix with each value of each four bits of a state.
__device__ void tabulate(const uint32_t *matrix, Table &table)
{
    const uint32_t nibble = threadIdx.x / WORDS, word = threadIdx.x % WORDS;
    if (nibble >= NIBBLES) return;
    uint32_t row[FOUR];
    for (uint32_t bit = 0; bit < FOUR; bit++)
        row[bit] = matrix[(nibble * FOUR + bit) * WORDS + word];
#pragma unroll
    for (int value = 0; value < VALUES; value++) {
        uint32_t sum = 0;
#pragma unroll
        for (int bit = 0; bit < FOUR; bit++)
            if (value >> bit & 1) sum ^= row[bit];
        table[nibble][value][word] = sum;
    }
}

// to = matrix * from, by the matrix's table.
__device__ void multiply(const Table &table, const uint32_t *from, uint32_t *to)
{
    uint32_t sum[WORDS] = {};
    for (int word = 0; word < WORDS; word++) {
        const uint32_t bits = from[word];
#pragma unroll
        for (int i = 0; i < NIBBLES / WORDS; i++) {
            const uint32_t *product = table[word * (NIBBLES / WORDS) + i][bits >> FOUR * i & 15];
#pragma unroll
            for (int k = 0; k < WORDS; k++) sum[k] ^= product[k];
        }
    }
#pragma unroll
    for (int k = 0; k < WORDS; k++) to[k] = sum[k];
}

// The state of subsequence `sequence` after `position` numbers, for each thread of a block. Warp 0
// jumps to the block's first subsequence. Then the threads before `span` give those behind it
// theirs, and `span` grows by the powers that there are matrices for.
__device__ void begin(curandStateXORWOW_t &state, uint64_t seed, uint64_t position)
{
    __shared__ uint32_t vectors[RAND_BLOCK][WORDS];
    __shared__ Table table;
    const uint32_t me = threadIdx.x;
    curand_init(seed, 0, 0, &state);
    state.d += 362437 * (uint32_t)position; // as skipahead does
    if (me < LANES) {
        skip_together(blockIdx.x * RAND_BLOCK, precalc_xorwow_matrix, state.v);
        skip_together(position, precalc_xorwow_offset_matrix, state.v);
        if (me == 0)
            for (int k = 0; k < WORDS; k++) vectors[0][k] = state.v[k];
    }
    uint32_t power = 0;
    for (uint32_t span = 1; span < RAND_BLOCK; span *= DIGIT, power++) {
        tabulate(precalc_xorwow_matrix[power], table);
        __syncthreads();
        for (uint32_t i = 1; i < DIGIT; i++) {
            if (me / span == i) multiply(table, vectors[me - span], vectors[me]);
            __syncthreads();
        }
    }
    for (int k = 0; k < WORDS; k++) state.v[k] = vectors[me][k];
}

// ---- MRG32k3a -----------------------------------------------------------------------------------

enum { ORDER = 3 };
struct Recurrence {
    uint32_t s[2][ORDER];
};

__device__ void multiply(const uint32_t (*matrix)[ORDER], uint32_t modulus, uint32_t *vector)
{
    uint32_t result[ORDER];
#pragma unroll
    for (int i = 0; i < ORDER; i++) {
        uint64_t sum = 0;
#pragma unroll
        for (int k = 0; k < ORDER; k++) sum += (uint64_t)matrix[i][k] * vector[k] % modulus;
        result[i] = (uint32_t)(sum % modulus);
    }
#pragma unroll
    for (int i = 0; i < ORDER; i++) vector[i] = result[i];
}

// Skips `n` subsequences or numbers; matrix i is the one for 2^i of them.
__device__ void skip(uint64_t n, const uint32_t (*first)[ORDER][ORDER],
                     const uint32_t (*second)[ORDER][ORDER], Recurrence &r)
{
    for (int i = 0; n != 0; i++, n >>= 1)
        if (n & 1) {
            multiply(first[i], (uint32_t)MRG32K3A_MOD1, r.s[0]);
            multiply(second[i], (uint32_t)MRG32K3A_MOD2, r.s[1]);
        }
}

__device__ void begin(curandStateMRG32k3a_t &state, uint64_t seed, uint64_t position)
{
    __shared__ Recurrence first;
    if (threadIdx.x == 0) {
        curand_init(seed, 0, 0, &state);
        Recurrence r;
        for (int i = 0; i < ORDER; i++) r.s[0][i] = state.s1[i], r.s[1][i] = state.s2[i];
        skip(blockIdx.x * RAND_BLOCK, mrg32k3aM1SubSeq, mrg32k3aM2SubSeq, r);
        skip(position, mrg32k3aM1, mrg32k3aM2, r);
        first = r;
    }
    __syncthreads();
    Recurrence r = first;
    skip(threadIdx.x, mrg32k3aM1SubSeq, mrg32k3aM2SubSeq, r);
    for (int i = 0; i < ORDER; i++) state.s1[i] = r.s[0][i], state.s2[i] = r.s[1][i];
}

// ---- generators with a state --------------------------------------------------------------------

// A subsequence for each thread. A segment can end inside a block: the threads behind its end have
// a few numbers more to skip.
template <class State, class Distribution> __device__ void fill(const rand_fill &p)
{
    const rand_place &place = p.place;
    const uint64_t units = p.count / Distribution::COUNT;
    const uint32_t sequence = blockIdx.x * RAND_BLOCK + threadIdx.x;
    const uint32_t mine = (sequence + place.sequences - place.next) % place.sequences;
    if (!__syncthreads_or(mine < units)) return;
    const uint64_t least = drawn_at_least(place, blockIdx.x * RAND_BLOCK);
    State state;
    begin(state, p.seed, least + replay_distance(p));
    if (mine >= units) return;
    const uint64_t more = drawn(place, sequence) - least;
    const uint64_t FEW = 64;
    if (more > FEW) skipahead(more, &state);
    for (uint64_t i = 0; i < more && more <= FEW; i++) curand(&state);
    for (uint64_t unit = mine; unit < units; unit += place.sequences)
        Distribution::store(p, unit, state, sequence);
}

// ---- Philox -------------------------------------------------------------------------------------

// Four results from one or two blocks of the cipher.
template <class T, class Distribution> __device__ void fill_philox(const rand_fill &p)
{
    const rand_place &place = p.place;
    const uint64_t quads = (p.count + place.within + 3) / 4;
    const uint64_t quad = (uint64_t)blockIdx.x * RAND_BLOCK + threadIdx.x;
    if (quad >= quads) return;
    const uint32_t sequence = (uint32_t)((place.next + quad) % place.sequences);
    const uint64_t round = quad / place.sequences; // a subsequence's units are `sequences` apart
    const uint64_t counter =
        (drawn(place, sequence) + replay_distance(p)) / 4 + round * Distribution::BLOCKS;
    const uint2 key = make_uint2((uint32_t)p.seed, (uint32_t)(p.seed >> 32));
    uint4 x[Distribution::BLOCKS];
#pragma unroll
    for (int i = 0; i < Distribution::BLOCKS; i++)
        x[i] = curand_Philox4x32_10(
            make_uint4((uint32_t)(counter + i), (uint32_t)((counter + i) >> 32), sequence, 0), key);
    T results[4];
    Distribution::make(p, x, results, sequence, counter);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint64_t at = 4 * quad + i - place.within;
        // Results before the first one have a huge unsigned index.
        if (at < p.count) ((T *)p.out)[at] = results[i];
    }
}

struct PhiloxBits {
    enum { BLOCKS = 1 };
    static __device__ void make(const rand_fill &, const uint4 *x, uint32_t *y, uint32_t, uint64_t)
    {
        y[0] = x->x, y[1] = x->y, y[2] = x->z, y[3] = x->w;
    }
};
struct PhiloxUniform {
    enum { BLOCKS = 1 };
    static __device__ void make(const rand_fill &, const uint4 *x, float *y, uint32_t, uint64_t)
    {
        const float4 u = _curand_uniform4(*x);
        y[0] = u.x, y[1] = u.y, y[2] = u.z, y[3] = u.w;
    }
};
struct PhiloxUniformDouble {
    enum { BLOCKS = 2 };
    static __device__ void make(const rand_fill &, const uint4 *x, double *y, uint32_t, uint64_t)
    {
        for (int i = 0; i < BLOCKS; i++) {
            y[2 * i] = _curand_uniform_double_hq(x[i].x, x[i].y);
            y[2 * i + 1] = _curand_uniform_double_hq(x[i].z, x[i].w);
        }
    }
};
template <bool LOG> struct PhiloxNormal {
    enum { BLOCKS = 1 };
    static __device__ void make(const rand_fill &p, const uint4 *x, float *y, uint32_t, uint64_t)
    {
        const float2 first = _curand_box_muller(x->x, x->y),
                     second = _curand_box_muller(x->z, x->w);
        y[0] = first.x, y[1] = first.y, y[2] = second.x, y[3] = second.y;
        for (int i = 0; i < 4; i++) y[i] = LOG ? expf(scaled(p, y[i])) : scaled(p, y[i]);
    }
};
template <bool LOG> struct PhiloxNormalDouble {
    enum { BLOCKS = 2 };
    static __device__ void make(const rand_fill &p, const uint4 *x, double *y, uint32_t, uint64_t)
    {
        for (int i = 0; i < BLOCKS; i++) {
            const double2 pair = _curand_box_muller_double(x[i].x, x[i].y, x[i].z, x[i].w);
            y[2 * i] = LOG ? exp(scaled(p, pair.x)) : scaled(p, pair.x);
            y[2 * i + 1] = LOG ? exp(scaled(p, pair.y)) : scaled(p, pair.y);
        }
    }
};

// Hands out numbers that have been drawn already, as curand does.
struct Drawn {
    uint32_t number;
};
__device__ uint32_t curand(Drawn *drawn)
{
    return drawn->number;
}

struct PhiloxPoisson {
    enum { BLOCKS = 1 };
    static __device__ void make(const rand_fill &p, const uint4 *x, uint32_t *y, uint32_t sequence,
                                uint64_t counter)
    {
        Drawn numbers[] = {{x->x}, {x->y}, {x->z}, {x->w}};
        for (int i = 0; i < 4; i++) y[i] = poisson(numbers[i], p, sequence, 4 * counter + i);
    }
};

// ---- names --------------------------------------------------------------------------------------

#define KERNEL(name, body)                                                                         \
    extern "C" __global__ void __launch_bounds__(RAND_BLOCK)                                       \
        curand_##name(const __grid_constant__ rand_fill p)                                         \
    {                                                                                              \
        body(p);                                                                                   \
    }
#define GENERATOR(name, State)                                                                     \
    KERNEL(name##_bits, (fill<State, Bits>))                                                       \
    KERNEL(name##_uniform, (fill<State, Uniform>))                                                 \
    KERNEL(name##_uniform_double, (fill<State, UniformDouble>))                                    \
    KERNEL(name##_normal, (fill<State, Normal<false>>))                                            \
    KERNEL(name##_normal_double, (fill<State, NormalDouble<false>>))                               \
    KERNEL(name##_log_normal, (fill<State, Normal<true>>))                                         \
    KERNEL(name##_log_normal_double, (fill<State, NormalDouble<true>>))                            \
    KERNEL(name##_poisson, (fill<State, Poisson>))
GENERATOR(xorwow, curandStateXORWOW_t)
GENERATOR(mrg32k3a, curandStateMRG32k3a_t)

KERNEL(philox_bits, (fill_philox<uint32_t, PhiloxBits>))
KERNEL(philox_uniform, (fill_philox<float, PhiloxUniform>))
KERNEL(philox_uniform_double, (fill_philox<double, PhiloxUniformDouble>))
KERNEL(philox_normal, (fill_philox<float, PhiloxNormal<false>>))
KERNEL(philox_normal_double, (fill_philox<double, PhiloxNormalDouble<false>>))
KERNEL(philox_log_normal, (fill_philox<float, PhiloxNormal<true>>))
KERNEL(philox_log_normal_double, (fill_philox<double, PhiloxNormalDouble<true>>))
KERNEL(philox_poisson, (fill_philox<uint32_t, PhiloxPoisson>))
