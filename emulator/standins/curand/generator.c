/* Generators: the public functions. */
#include <stdio.h>
#include <stdlib.h>

#include "emulator/standins/curand/rand.h"

/* ---- generators --------------------------------------------------------------------------------
 */

enum { VERSION_MAJOR = 10, VERSION_MINOR = 4, VERSION_PATCH = 0 }; /* whose ABI abi.h follows */

/* A type of generator that has kernels. */
struct engine {
    enum rand_type type;
    const char *name;      /* in the kernels' names */
    uint32_t sequences;    /* subsequences that are drawn from in turn */
    uint32_t legacy;       /* the same, in the ordering LEGACY */
    uint32_t per_unit;     /* results of a unit of bits */
    bool seeded;           /* has the ordering SEEDED */
    uint32_t draws_double; /* 32-bit numbers for a unit of uniform doubles, ... */
    uint32_t draws_normal; /* ... for a unit of normal floats, */
    uint32_t draws_normal_double;
};

static const struct engine engines[] = {
    {RAND_XORWOW, "xorwow", 4096, 4096, 1, true, 2, 2, 4},
    {RAND_MRG32K3A, "mrg32k3a", 81920, 4096, 1, false, 1, 2, 2},
    {RAND_PHILOX, "philox", 65536, 65536, 4, false, 8, 4, 8},
};

/* The types that are refused by name. */
static const struct {
    enum rand_type type;
    const char *name;
} refused[] = {
    {RAND_MTGP32, "curandCreateGenerator(CURAND_RNG_PSEUDO_MTGP32)"},
    {RAND_MT19937, "curandCreateGenerator(CURAND_RNG_PSEUDO_MT19937)"},
    {RAND_QUASI_DEFAULT, "curandCreateGenerator(CURAND_RNG_QUASI_DEFAULT)"},
    {RAND_SOBOL32, "curandCreateGenerator(CURAND_RNG_QUASI_SOBOL32)"},
    {RAND_SCRAMBLED_SOBOL32, "curandCreateGenerator(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32)"},
    {RAND_SOBOL64, "curandCreateGenerator(CURAND_RNG_QUASI_SOBOL64)"},
    {RAND_SCRAMBLED_SOBOL64, "curandCreateGenerator(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64)"},
};

/* What curandCreateGenerator makes; the caller owns it until curandDestroyGenerator. */
struct curandGenerator_st {
    const struct engine *engine;
    bool on_host; /* results go to host memory */
    CUstream stream;
    uint64_t seed;
    uint64_t offset; /* the one that was set, and the units since */
    struct rand_place place;
};

static struct standin_kernels kernels = {.ptx = rand_image};

static enum rand_status status_of(CUresult error)
{
    switch (standin_met(error)) {
    case CUDA_SUCCESS:
        return RAND_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return RAND_ALLOCATION_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
        return RAND_INITIALIZATION_FAILED;
    default:
        return RAND_LAUNCH_FAILURE;
    }
}

/* Ends the bracket around a public function; returns `status`. */
static int call_end(enum rand_status status)
{
    standin_call_end(status == RAND_SUCCESS, CUDA_ERROR_INVALID_VALUE);
    return (int)status;
}

/* A function on a generator: `run`, an enum rand_status, is evaluated only if there is one. */
#define ROUTINE(name, run, ...)                                                                    \
    STANDIN_PUBLIC int curand##name(__VA_ARGS__)                                                   \
    {                                                                                              \
        standin_call_begin("curand" #name, __builtin_return_address(0));                           \
        return call_end(generator == NULL ? RAND_NOT_INITIALIZED : (run));                         \
    }
#define GENERATOR struct curandGenerator_st *generator

static enum rand_status create(struct curandGenerator_st **made, int type, bool on_host)
{
    const struct engine *engine = NULL;
    if (type == RAND_PSEUDO_DEFAULT) type = RAND_XORWOW;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if ((int)engines[i].type == type) engine = &engines[i];
    if (made == NULL || engine == NULL) return RAND_TYPE_ERROR;
    const enum rand_status status = status_of(standin_context());
    if (status != RAND_SUCCESS) return status;
    if ((*made = calloc(1, sizeof **made)) == NULL) return RAND_ALLOCATION_FAILED;
    (*made)->engine = engine;
    (*made)->on_host = on_host;
    rand_place_set(&(*made)->place, engine->sequences, engine->per_unit, 0);
    return RAND_SUCCESS;
}

/* The name under which a type is refused, or NULL. */
static const char *refusal(int type)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if ((int)refused[i].type == type) return refused[i].name;
    return NULL;
}

#define CREATE(function, on_host)                                                                  \
    STANDIN_PUBLIC int function(struct curandGenerator_st **made, int type)                        \
    {                                                                                              \
        if (refusal(type) != NULL) {                                                               \
            standin_absent(refusal(type), __builtin_return_address(0));                            \
            return RAND_ARCH_MISMATCH;                                                             \
        }                                                                                          \
        standin_call_begin(#function, __builtin_return_address(0));                                \
        return call_end(create(made, type, on_host));                                              \
    }
CREATE(curandCreateGenerator, false)
CREATE(curandCreateGeneratorHost, true)

ROUTINE(DestroyGenerator, (free(generator), RAND_SUCCESS), GENERATOR)

/* ---- settings ----------------------------------------------------------------------------------
 */

static enum rand_status set_offset(struct curandGenerator_st *generator, uint64_t offset)
{
    generator->offset = offset;
    rand_place_set(&generator->place, generator->place.sequences, generator->engine->per_unit,
                   offset);
    return RAND_SUCCESS;
}

/* Computes the starting states anew: each unit so far counts as one number, whatever was drawn for
 * it. NVIDIA's library does the same. */
static enum rand_status begin_anew(struct curandGenerator_st *generator)
{
    return set_offset(generator, generator->offset);
}

static enum rand_status set_seed(struct curandGenerator_st *generator, uint64_t seed)
{
    if (seed == generator->seed) return RAND_SUCCESS;
    generator->seed = seed;
    return begin_anew(generator);
}

/* An ordering with another number of subsequences begins anew. */
static enum rand_status set_ordering(struct curandGenerator_st *generator, int ordering)
{
    const struct engine *engine = generator->engine;
    const uint32_t sequences =
        ordering == RAND_ORDERING_LEGACY ? engine->legacy : engine->sequences;
    if (ordering < RAND_ORDERING_BEST || ordering > RAND_ORDERING_DYNAMIC) return RAND_OUT_OF_RANGE;
    if (ordering == RAND_ORDERING_SEEDED && !engine->seeded) return RAND_OUT_OF_RANGE;
    if (ordering == RAND_ORDERING_DYNAMIC && generator->on_host) return RAND_OUT_OF_RANGE;
    if (sequences == generator->place.sequences) return RAND_SUCCESS;
    generator->place.sequences = sequences;
    return begin_anew(generator);
}

/* Stores `value`, unless `place` is NULL. */
static enum rand_status give(int *place, int value)
{
    if (place == NULL) return RAND_OUT_OF_RANGE;
    *place = value;
    return RAND_SUCCESS;
}

ROUTINE(SetStream, (generator->stream = stream, RAND_SUCCESS), GENERATOR, CUstream stream)
ROUTINE(SetPseudoRandomGeneratorSeed, set_seed(generator, seed), GENERATOR, unsigned long long seed)
ROUTINE(SetGeneratorOffset, set_offset(generator, offset), GENERATOR, unsigned long long offset)
ROUTINE(SetGeneratorOrdering, set_ordering(generator, ordering), GENERATOR, int ordering)
/* These are for quasirandom generators, of which there are none. */
ROUTINE(SetQuasiRandomGeneratorDimensions, ((void)dimensions, RAND_TYPE_ERROR), GENERATOR,
        unsigned dimensions)
ROUTINE(GenerateLongLong, ((void)out, (void)count, RAND_TYPE_ERROR), GENERATOR, void *out,
        size_t count)
ROUTINE(GenerateSeeds, begin_anew(generator), GENERATOR)

STANDIN_PUBLIC int curandGetVersion(int *version)
{
    standin_call_begin("curandGetVersion", __builtin_return_address(0));
    return call_end(give(version, VERSION_MAJOR * 1000 + VERSION_MINOR * 100 + VERSION_PATCH));
}

STANDIN_PUBLIC int curandGetProperty(int property, int *value)
{
    static const int values[] = {
        [RAND_MAJOR] = VERSION_MAJOR, [RAND_MINOR] = VERSION_MINOR, [RAND_PATCH] = VERSION_PATCH};
    const bool known = property >= RAND_MAJOR && property <= RAND_PATCH;
    standin_call_begin("curandGetProperty", __builtin_return_address(0));
    return call_end(known ? give(value, values[property]) : RAND_OUT_OF_RANGE);
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

/* A call that generates: which kernel, and what one unit of it consumes. */
struct request {
    const char *distribution;
    size_t bytes;      /* of a result */
    uint32_t per_unit; /* results of a unit, for generators that are not Philox */
    uint32_t draws;    /* 32-bit numbers of a unit */
    double mean, deviation;
};

/* Gives a captured call a replay counter of its own. `counter` is 1 + its index, or 0 for a call
 * that is not captured. Returns CUDA_ERROR_OUT_OF_MEMORY when the process has used all the
 * counters. */
static CUresult counter_of(CUstream stream, uint32_t *counter)
{
    static uint32_t used; /* of the process: a graph can outlive its generator */
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult error = cuStreamIsCapturing(stream, &capture);
    *counter = 0;
    if (error != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_ACTIVE) return error;
    *counter = __atomic_add_fetch(&used, 1, __ATOMIC_RELAXED);
    return *counter <= RAND_MOST_REPLAYS ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult launch(const struct curandGenerator_st *generator, const struct request *request,
                       struct rand_fill *fill)
{
    enum { LONGEST = 64 };
    const struct engine *engine = generator->engine;
    const uint64_t quads = (fill->count + fill->place.within + 3) / 4;
    const struct standin_size size = {.x = engine->per_unit == 1 ? fill->place.sequences : quads,
                                      .y = 1,
                                      .z = 1,
                                      .block_x = RAND_BLOCK,
                                      .block_y = 1};
    const struct standin_size one = {.x = 1, .y = 1, .z = 1, .block_x = 1, .block_y = 1};
    char name[LONGEST];
    CUresult error = counter_of(generator->stream, &fill->counter);
    if (error != CUDA_SUCCESS) return error;
    snprintf(name, sizeof name, "curand_%s_%s", engine->name, request->distribution);
    error = standin_launch(&kernels, name, &size, generator->stream, fill);
    if (error != CUDA_SUCCESS || fill->counter == 0) return error;
    return standin_launch(&kernels, "curand_replayed", &one, generator->stream,
                          &(struct rand_replayed){fill->counter - 1});
}

/* Results for host memory are computed in device memory, copied and waited for. */
static CUresult launch_for_host(const struct curandGenerator_st *generator,
                                const struct request *request, struct rand_fill *fill)
{
    void *const out = fill->out;
    const size_t bytes = fill->count * request->bytes;
    CUdeviceptr room = 0;
    CUresult error = cuMemAlloc(&room, bytes);
    if (error != CUDA_SUCCESS) return error;
    fill->out = (void *)(uintptr_t)room;
    error = launch(generator, request, fill);
    if (error == CUDA_SUCCESS) error = cuMemcpyDtoHAsync(out, room, bytes, generator->stream);
    if (error == CUDA_SUCCESS) error = cuStreamSynchronize(generator->stream);
    const CUresult freed = cuMemFree(room);
    return error != CUDA_SUCCESS ? error : freed;
}

static enum rand_status generate(struct curandGenerator_st *generator, void *out, size_t count,
                                 const struct request *request)
{
    struct rand_place *place = &generator->place;
    const uint32_t per_unit =
        generator->engine->per_unit == 1 ? request->per_unit : generator->engine->per_unit;
    struct rand_fill fill = {.out = out,
                             .count = count,
                             .seed = generator->seed,
                             .mean = request->mean,
                             .deviation = request->deviation,
                             .place = *place};
    if (generator->engine->per_unit == 1 && count % per_unit != 0) return RAND_LENGTH_NOT_MULTIPLE;
    if (count == 0) return RAND_SUCCESS;
    const CUresult error = generator->on_host ? launch_for_host(generator, request, &fill)
                                              : launch(generator, request, &fill);
    if (error != CUDA_SUCCESS) return status_of(error);
    const uint64_t results = count + place->within;
    generator->offset += results / per_unit;
    rand_place_advance(place, results / per_unit, request->draws);
    place->within = (uint32_t)(results % per_unit);
    return RAND_SUCCESS;
}

static enum rand_status poisson(struct curandGenerator_st *generator, void *out, size_t count,
                                double lambda)
{
    enum { MOST = 400000 };
    if (!(lambda > 0 && lambda <= MOST)) return RAND_OUT_OF_RANGE;
    return generate(generator, out, count,
                    &(struct request){"poisson", 4, 1, generator->engine->per_unit, lambda, 0});
}

#define REQUEST(name, distribution, bytes, per_unit, draws, mean, deviation, ...)                  \
    ROUTINE(name,                                                                                  \
            generate(generator, out, count,                                                        \
                     &(struct request){distribution, bytes, per_unit, draws, mean, deviation}),    \
            GENERATOR, __VA_ARGS__)
#define ONE(name, distribution, T, draws)                                                          \
    REQUEST(name, distribution, sizeof(T), 1, draws, 0, 0, T *out, size_t count)
#define PAIR(name, distribution, T, draws)                                                         \
    REQUEST(name, distribution, sizeof(T), 2, draws, mean, deviation, T *out, size_t count,        \
            T mean, T deviation)
ONE(Generate, "bits", unsigned, generator->engine->per_unit)
ONE(GenerateUniform, "uniform", float, generator->engine->per_unit)
ONE(GenerateUniformDouble, "uniform_double", double, generator->engine->draws_double)
PAIR(GenerateNormal, "normal", float, generator->engine->draws_normal)
PAIR(GenerateNormalDouble, "normal_double", double, generator->engine->draws_normal_double)
PAIR(GenerateLogNormal, "log_normal", float, generator->engine->draws_normal)
PAIR(GenerateLogNormalDouble, "log_normal_double", double, generator->engine->draws_normal_double)
ROUTINE(GeneratePoisson, poisson(generator, out, count, lambda), GENERATOR, unsigned *out,
        size_t count, double lambda)
