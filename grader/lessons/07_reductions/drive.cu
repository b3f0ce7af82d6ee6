/* The child side of lesson 07: what goes on around the calls of the student's template, which are
 * compiled apart (calls.cu): macros and overloads of a submission do not reach this file. */
#include "grader/lessons/07_reductions/calls.h"
#include "grader/lessons/07_reductions/exchange.h"

#include "grader/child/drive.h"
#include "grader/child/drive_cuda.h"
#include "grader/lessons/07_reductions/gate.h"
#include "kernels/reduce_cub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one case ------------------------------------------------------------------------------ */

/* Our own copies and sets run in the default stream, which a non-blocking stream does not wait for;
 * and a copy from pageable memory may return when it is staged, not when it has arrived. */
static bool settled()
{
    return drive_succeeds(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/* What a case works with. On the device the array ends where its memory ends, so that the emulator
 * sees an access behind it; on a GPU, which does not, there are further elements that would spoil
 * the result. */
struct place {
    unsigned char *memory; /* device */
    unsigned char *array;
    unsigned char *results; /* device: a guard, the result, a guard */
    cudaStream_t stream;
};

static void place_free(struct place *place)
{
    cudaDeviceSynchronize();
    cudaFree(place->memory);
    cudaFree(place->results);
    if (place->stream) cudaStreamDestroy(place->stream);
}

static bool place_make(struct place *place, const struct drive *drive, size_t element,
                       size_t before, size_t size)
{
    size_t behind = drive->device == DRIVE_GPU ? 64 : 0;
    size_t bytes = before + (size + behind) * element;
    *place = {};
    if (!drive_succeeds(cudaMalloc((void **)&place->memory, bytes + !bytes), "cudaMalloc") ||
        !drive_succeeds(cudaMalloc((void **)&place->results, 3 * element), "cudaMalloc") ||
        !drive_succeeds(cudaMemset(place->memory, DRIVE_POISON, bytes), "cudaMemset") ||
        !drive_succeeds(cudaMemset(place->results, DRIVE_POISON, 3 * element), "cudaMemset") ||
        !drive_succeeds(cudaStreamCreateWithFlags(&place->stream, cudaStreamNonBlocking),
                        "a stream") ||
        !settled())
        return false;
    place->array = place->memory + before;
    return true;
}

static const unsigned char *pool_of(const struct reduction_input *input,
                                    const struct reduction_case *wanted, size_t element)
{
    return (const unsigned char *)input + input->pool_offset[wanted->kind] +
           wanted->offset * element;
}

/* Calls the student's reduction. `init` lives here, or in `*pinned`, and is gone when the call has
 * returned. */
static cudaError_t call(const struct reduction_student &student,
                        const struct reduction_case &wanted, const void *array, void *result,
                        cudaStream_t stream, void *pinned = NULL)
{
    alignas(16) unsigned char here[REDUCTION_ELEMENT_SIZE];
    void *init = pinned ? pinned : here;
    memcpy(init, wanted.init, student.element);
    cudaError_t error =
        student.call(&wanted, array, result, wanted.with_init ? init : NULL, stream);
    memset(init, DRIVE_POISON, student.element);
    asm volatile("" : : "r"(init) : "memory"); /* or the compiler leaves the memset out */
    return error;
}

static void take_results(struct reduction_answer *answer, const unsigned char *results,
                         size_t element)
{
    for (size_t i = 0; i < 3; i++) memcpy(answer->result[i], results + i * element, element);
}

static bool run_case(struct drive *drive, uint32_t index)
{
    const struct reduction_input *input = (const struct reduction_input *)drive->input;
    const struct reduction_case *wanted = &input->cases[index];
    const struct reduction_student *kind = &reduction_students[wanted->kind];
    struct reduction_answer *answer = &((struct reduction_output *)drive->output)->answers[index];
    unsigned char results[3 * REDUCTION_ELEMENT_SIZE];
    struct place place;

    memset(answer, 0, sizeof *answer);
    memset(answer->result, DRIVE_POISON, sizeof answer->result);
    bool ok = place_make(&place, drive, kind->element, wanted->shift * kind->element + wanted->skew,
                         wanted->size) &&
              drive_succeeds(cudaMemcpy(place.array, pool_of(input, wanted, kind->element),
                                        wanted->size * kind->element, cudaMemcpyHostToDevice),
                             "cudaMemcpy") &&
              settled();
    if (ok) {
        drive_begin(drive, DRIVE_INJECTIONS, index);
        drive_begin(drive, REDUCTION_PHASE_CASE, index);
        answer->status = (int32_t)call(*kind, *wanted, wanted->size ? place.array : NULL,
                                       place.results + kind->element, place.stream, NULL);
        drive_end(drive, REDUCTION_PHASE_CASE, index);
        drive_end(drive, DRIVE_INJECTIONS, index);
        answer->later = (int32_t)cudaStreamSynchronize(place.stream);
        if (!cudaMemcpy(results, place.results, 3 * kind->element, cudaMemcpyDeviceToHost))
            take_results(answer, results, kind->element);
        cudaError_t elsewhere = cudaDeviceSynchronize(); /* a fault in another stream */
        if (!answer->later) answer->later = (int32_t)elsewhere;
    }
    place_free(&place);
    return ok;
}

/* ---- behind a gate ------------------------------------------------------------------------- */

/* What holds a stream back, and the event behind it. */
struct hold {
    struct gate gate;
    cudaEvent_t passed;
};

static bool hold_back(struct hold *hold, cudaStream_t stream)
{
    return drive_succeeds(cudaLaunchHostFunc(stream, gate_wait, &hold->gate), "a gate") &&
           drive_succeeds(cudaEventCreateWithFlags(&hold->passed, cudaEventDisableTiming),
                          "an event") &&
           drive_succeeds(cudaEventRecord(hold->passed, stream), "an event");
}

/* Lets two streams go and returns when both have passed their gates. The device takes what the host
 * has seen by the end of a host function to happen before what is behind it; so if one stream was
 * waited for while the other's gate had not ended, the two would count as ordered. */
static void let_go(struct hold holds[2])
{
    for (int i = 0; i < 2; i++) gate_open(&holds[i].gate);
    for (int i = 0; i < 2; i++) {
        if (!holds[i].passed) continue;
        cudaEventSynchronize(holds[i].passed);
        cudaEventDestroy(holds[i].passed);
    }
}

static bool both_held(struct hold holds[2])
{
    return !gate_gave_up(&holds[0].gate) && !gate_gave_up(&holds[1].gate);
}

/* Once in peace: what is done only at the first call may wait for the device. What goes wrong from
 * here on is the student's, and data. */
static void call_in_peace(struct drive *drive, const struct reduction_case *wanted,
                          struct reduction_answer *answer, const struct place *place, size_t bytes)
{
    memset(answer, 0, sizeof *answer);
    cudaMemset(place->memory, 0, bytes);
    cudaDeviceSynchronize();
    drive_begin(drive, REDUCTION_PHASE_WARM_UP, 0);
    answer->status = (int32_t)call(reduction_students[REDUCTION_SUM_INT64], *wanted, place->array,
                                   (int64_t *)place->results + 1, place->stream);
    drive_end(drive, REDUCTION_PHASE_WARM_UP, 0);
    answer->later = (int32_t)cudaDeviceSynchronize();
    cudaMemset(place->memory, DRIVE_POISON, bytes);
    cudaMemset(place->results, DRIVE_POISON, 3 * sizeof(int64_t));
    if (!answer->later) answer->later = (int32_t)cudaDeviceSynchronize();
}

/* The input is on its way in the same stream, behind a gate that opens when the call has returned:
 * a reduction that runs elsewhere meets poison, and one that waits meets a closed gate. */
static bool run_gated(struct drive *drive)
{
    const struct reduction_input *input = (const struct reduction_input *)drive->input;
    const struct reduction_case *wanted = &input->cases[0];
    struct reduction_answer *answer = &((struct reduction_output *)drive->output)->answers[0];
    size_t bytes = wanted->size * sizeof(int64_t);
    unsigned char *pinned = NULL; /* the array, and behind it the results and init */
    cudaStream_t other = NULL;
    struct hold holds[2] = {{gate_make(), NULL}, {gate_make(), NULL}};
    struct place place;

    bool ok =
        place_make(&place, drive, sizeof(int64_t), 0, wanted->size) &&
        drive_succeeds(cudaMallocHost((void **)&pinned, bytes + 4 * sizeof(int64_t)), "pinned") &&
        drive_succeeds(cudaStreamCreate(&other), "a stream");
    if (ok) {
        call_in_peace(drive, wanted, answer, &place, bytes);
        memcpy(pinned, pool_of(input, wanted, sizeof(int64_t)), bytes);
        memset(pinned + bytes, DRIVE_POISON, 3 * sizeof(int64_t));
        if (!answer->later) {
            ok = hold_back(&holds[0], place.stream) && hold_back(&holds[1], other) &&
                 drive_succeeds(cudaMemcpyAsync(place.array, pinned, bytes, cudaMemcpyHostToDevice,
                                                place.stream),
                                "cudaMemcpyAsync");
        }
        drive_begin(drive, REDUCTION_PHASE_GATED, 0);
        if (ok && !answer->later)
            answer->status = (int32_t)call(reduction_students[REDUCTION_SUM_INT64], *wanted,
                                           place.array, (int64_t *)place.results + 1, place.stream,
                                           pinned + bytes + 3 * sizeof(int64_t));
        drive_end(drive, REDUCTION_PHASE_GATED, 0);
        answer->held = both_held(holds);
        let_go(holds);
        if (ok && !answer->later) {
            cudaMemcpyAsync(pinned + bytes, place.results, 3 * sizeof(int64_t),
                            cudaMemcpyDeviceToHost, place.stream);
            answer->later = (int32_t)cudaStreamSynchronize(place.stream);
        }
        cudaStreamSynchronize(other);
        cudaDeviceSynchronize();
        take_results(answer, pinned + bytes, sizeof(int64_t));
    }
    place_free(&place);
    if (other) cudaStreamDestroy(other);
    cudaFreeHost(pinned);
    return ok;
}

/* ---- two at once --------------------------------------------------------------------------- */

/* Asks until the stream is done or `*enough`; not for ever, as the one stream's work may have been
 * put behind the other's. Counted in questions, of which a machine that is busy has fewer. */
static void ask(cudaStream_t stream, const volatile int *enough)
{
    for (int i = 0; i < GATE_PATIENCE_MS && !(enough && *enough); i++) {
        if (cudaStreamQuery(stream) != cudaErrorNotReady) return;
        usleep(1000);
    }
}

/* On a GPU the first launch of a kernel loads it, which waits for whatever is held back. False: the
 * device came to grief, which is the answer to both calls. */
static bool load_kernels(struct drive *drive, const struct reduction_case cases[2],
                         struct reduction_answer answers[2], const struct place places[2])
{
    if (drive->device != DRIVE_GPU) return true;
    for (uint32_t i = 0; i < 2; i++) {
        call_in_peace(drive, &cases[i], &answers[i], &places[i], cases[i].size * sizeof(int64_t));
        if (answers[i].later) {
            answers[0].later = answers[1].later = answers[i].later;
            return false;
        }
    }
    return true;
}

/* Cases `first` and the next. Both calls are made before either's work begins, so that nothing but
 * the streams keeps the two apart. `hold`: half of the first one's blocks wait until all of the
 * second one's are done. */
static bool two_calls(struct drive *drive, uint32_t first, bool hold)
{
    const struct reduction_input *input = (const struct reduction_input *)drive->input;
    const struct reduction_case *cases = &input->cases[first];
    struct reduction_answer *answers = &((struct reduction_output *)drive->output)->answers[first];
    struct hold holds[2] = {{gate_make(), NULL}, {gate_make(), NULL}};
    struct place places[2] = {};
    int *held = NULL;
    bool ok = drive_succeeds(cudaMallocHost((void **)&held, 2 * sizeof *held), "pinned memory");

    if (ok) held[0] = held[1] = 0;
    for (uint32_t i = 0; i < 2 && ok; i++) {
        memset(&answers[i], 0, sizeof answers[i]);
        ok = place_make(&places[i], drive, sizeof(int64_t), 0, cases[i].size);
    }
    const bool alive = ok && load_kernels(drive, cases, answers, places);
    for (uint32_t i = 0; i < 2 && ok && alive; i++)
        ok = drive_succeeds(cudaMemcpy(places[i].array, pool_of(input, &cases[i], sizeof(int64_t)),
                                       cases[i].size * sizeof(int64_t), cudaMemcpyHostToDevice),
                            "cudaMemcpy") &&
             settled();
    for (uint32_t i = 0; i < 2 && ok && alive; i++) ok = hold_back(&holds[i], places[i].stream);
    for (uint32_t i = 0; i < 2 && ok; i++) {
        drive_begin(drive, REDUCTION_PHASE_TOGETHER, first + i);
        int64_t *result = (int64_t *)places[i].results + 1;
        reduction_held_sums_gate = i == 0 ? held : NULL;
        if (alive)
            answers[i].status =
                (int32_t)call(hold ? reduction_held_sum : reduction_students[REDUCTION_SUM_INT64],
                              cases[i], places[i].array, result, places[i].stream, NULL);
        drive_end(drive, REDUCTION_PHASE_TOGETHER, first + i);
    }
    for (uint32_t i = 0; i < 2; i++) answers[i].held = both_held(holds);
    let_go(holds);
    if (ok && alive && hold) {
        ask(places[0].stream, held);
        ask(places[1].stream, NULL);
    }
    if (ok) *(volatile int *)&held[1] = 1;
    for (uint32_t i = 0; i < 2 && ok && alive; i++) {
        unsigned char results[3 * sizeof(int64_t)];
        answers[i].later = (int32_t)cudaStreamSynchronize(places[i].stream);
        if (!cudaMemcpy(results, places[i].results, sizeof results, cudaMemcpyDeviceToHost))
            take_results(&answers[i], results, sizeof(int64_t));
    }
    for (uint32_t i = 0; i < 2; i++) place_free(&places[i]);
    cudaFreeHost(held);
    return ok;
}

/* Who waits inside the call would wait for ever in a pair of which one is held: the pair that
 * nobody holds tells who does. A run of its own, as of a kernel that may wait for others the device
 * does not say what is not ordered; on a GPU there may be no room for both at a time. */
static bool run_interleaved(struct drive *drive)
{
    struct reduction_answer *answers = ((struct reduction_output *)drive->output)->answers;

    if (!two_calls(drive, 0, false)) return false;
    const bool broken = answers[0].later || answers[1].later;
    answers[2].lost = answers[3].lost = broken ? 1 : answers[0].held ? 0 : 2;
    return answers[2].lost || two_calls(drive, 2, true);
}

/* ---- a long array -------------------------------------------------------------------------- */

/* Nobody has time to add up 2^32 elements here. So nearly all of them are not there, and who comes
 * to them meets a fault: that is right, and it ends the context. */
static bool run_long(struct drive *drive)
{
    const struct reduction_input *input = (const struct reduction_input *)drive->input;
    struct reduction_answer *answer = &((struct reduction_output *)drive->output)->answers[0];
    struct reduction_case wanted = input->cases[0];
    struct place place;

    bool ok = place_make(&place, drive, sizeof(int64_t), 0, wanted.size) &&
              drive_succeeds(cudaMemcpy(place.array, pool_of(input, &wanted, sizeof(int64_t)),
                                        wanted.size * sizeof(int64_t), cudaMemcpyHostToDevice),
                             "cudaMemcpy") &&
              settled();
    if (ok) {
        memset(answer, 0, sizeof *answer);
        wanted.size += REDUCTION_TOO_MANY;
        drive_begin(drive, REDUCTION_PHASE_CASE, 0);
        answer->status = (int32_t)call(reduction_students[REDUCTION_SUM_INT64], wanted, place.array,
                                       (int64_t *)place.results + 1, place.stream);
        drive_end(drive, REDUCTION_PHASE_CASE, 0);
        answer->later = (int32_t)cudaDeviceSynchronize();
    }
    place_free(&place);
    return ok;
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Fills the array with copies of the first case's stretch, by doubling. */
static bool fill(const struct place *place, const void *stretch, size_t bytes, size_t total)
{
    if (!drive_succeeds(cudaMemcpy(place->array, stretch, bytes, cudaMemcpyHostToDevice),
                        "cudaMemcpy"))
        return false;
    for (size_t have = bytes; have < total; have *= 2) {
        size_t more = total - have < have ? total - have : have;
        if (!drive_succeeds(
                cudaMemcpy(place->array + have, place->array, more, cudaMemcpyDeviceToDevice),
                "cudaMemcpy"))
            return false;
    }
    return settled();
}

/* Compiling CUB takes longer than all the rest, and only a GPU is measured against it: the names
 * are null where it is not built. */
extern "C" __attribute__((weak)) decltype(reduce_cub_int64) reduce_cub_int64;
extern "C" __attribute__((weak)) decltype(reduce_cub_int32) reduce_cub_int32;

/* What is timed: the array as T, by the student's sum and by CUB's. */
template <typename T> struct contest {
    struct drive *drive;
    const struct place *place;
    size_t size; /* elements */
    const char *phase, *cub_phase;
    struct reduction_answer *answer;
    cudaError_t (*cub)(void *, size_t *, const T *, T *, size_t, cudaStream_t);
    T *result; /* CUB's, on the device; NULL: CUB does not take part */
    size_t scratch_bytes;
};

template <typename T>
static bool time_student(const struct contest<T> *contest, const char *phase, uint32_t repetition,
                         uint32_t calls)
{
    struct reduction_answer *answer = contest->answer;
    unsigned char results[3 * sizeof(T)];
    struct reduction_case wanted = {};
    wanted.kind = sizeof(T) == sizeof(int64_t) ? REDUCTION_SUM_INT64 : REDUCTION_SUM_INT32;
    wanted.size = contest->size;
    cudaError_t error = cudaSuccess;

    cudaMemset(contest->place->results, DRIVE_POISON, sizeof results);
    if (!settled()) return false;
    drive_begin(contest->drive, phase, repetition);
    for (uint32_t i = 0; i < calls && !error; i++)
        error = call(reduction_students[wanted.kind], wanted, contest->place->array,
                     (T *)contest->place->results + 1, contest->place->stream);
    cudaError_t later = cudaDeviceSynchronize();
    drive_end(contest->drive, phase, repetition);

    memset(answer, 0, sizeof *answer);
    answer->status = (int32_t)error;
    answer->later = (int32_t)later;
    if (!later &&
        !cudaMemcpy(results, contest->place->results, sizeof results, cudaMemcpyDeviceToHost))
        take_results(answer, results, sizeof(T));
    return true;
}

/* A reduction has to take its scratch memory in the stream's order and give it back there, which
 * costs 0.1 ms for the first call after a wait: the pool keeps nothing over it. So does CUB's here.
 */
template <typename T>
static bool time_cub(const struct contest<T> *contest, const char *phase, uint32_t repetition,
                     uint32_t calls)
{
    cudaStream_t stream = contest->place->stream;
    cudaError_t error = cudaSuccess;

    if (!contest->result) return true;
    drive_begin(contest->drive, phase, repetition);
    for (uint32_t i = 0; i < calls && !error; i++) {
        size_t bytes = contest->scratch_bytes;
        void *scratch = NULL;
        error = cudaMallocAsync(&scratch, bytes, stream);
        if (!error)
            error = contest->cub(scratch, &bytes, (const T *)contest->place->array, contest->result,
                                 contest->size, stream);
        if (!error) error = cudaFreeAsync(scratch, stream);
    }
    bool ended = drive_succeeds(cudaDeviceSynchronize(), "CUB");
    drive_end(contest->drive, phase, repetition);
    return ended && drive_succeeds(error, "CUB");
}

/* All repetitions, in turn. A student's call that fails ends it: there is nothing to time, and that
 * is data too, for which the first phase has to be there. */
template <typename T> static bool time_in_turn(struct contest<T> *contest)
{
    const struct reduction_input *input = (const struct reduction_input *)contest->drive->input;
    const struct reduction_answer *answer = contest->answer;

    if (contest->drive->device == DRIVE_GPU && contest->cub != nullptr) {
        if (!drive_succeeds(contest->cub(NULL, &contest->scratch_bytes, NULL, NULL, contest->size,
                                         contest->place->stream),
                            "CUB"))
            return false;
        if (!drive_succeeds(cudaMalloc((void **)&contest->result, sizeof(T)), "cudaMalloc"))
            return false;
    }
    bool ok = time_student(contest, REDUCTION_PHASE_WARM_UP, sizeof(T), 1);
    if (ok && (answer->status || answer->later)) {
        drive_begin(contest->drive, contest->phase, 0);
        drive_end(contest->drive, contest->phase, 0);
    } else {
        ok = ok && time_cub(contest, REDUCTION_PHASE_WARM_UP, 2 * sizeof(T), 1);
        for (uint32_t r = 0; r < input->repetitions && ok && !answer->status && !answer->later; r++)
            ok = time_student(contest, contest->phase, r, input->calls) &&
                 time_cub(contest, contest->cub_phase, r, input->calls);
    }
    cudaFree(contest->result);
    return ok;
}

static bool run_time(struct drive *drive)
{
    const struct reduction_input *input = (const struct reduction_input *)drive->input;
    const struct reduction_case *stretch = &input->cases[0];
    struct reduction_answer *answers = ((struct reduction_output *)drive->output)->answers;
    size_t size = (size_t)input->time_size, bytes = size * sizeof(int64_t);
    struct place place;

    bool ok = place_make(&place, drive, sizeof(int64_t), 0, size) &&
              fill(&place, pool_of(input, stretch, sizeof(int64_t)),
                   stretch->size * sizeof(int64_t), bytes);
    struct contest<int64_t> wide = {
        drive, &place, size, REDUCTION_PHASE_TIME, REDUCTION_PHASE_CUB, &answers[0],
            reduce_cub_int64
    };
    struct contest<int32_t> narrow = {
        drive, &place, size * 2, REDUCTION_PHASE_TIME_32, REDUCTION_PHASE_CUB_32, &answers[1],
            reduce_cub_int32
    };
    ok = ok && time_in_turn(&wide);
    if (ok && drive->device == DRIVE_GPU && !answers[0].status && !answers[0].later)
        ok = time_in_turn(&narrow);
    place_free(&place);
    return ok;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* A fault in one case takes the context, and with it the cases that follow. */
static bool run_values(struct drive *drive)
{
    const struct reduction_input *input = (const struct reduction_input *)drive->input;
    struct reduction_answer *answers = ((struct reduction_output *)drive->output)->answers;
    bool broken = false;
    for (uint32_t i = 0; i < input->case_count; i++) {
        if (broken || !run_case(drive, i)) {
            if (!broken) return false;
            memset(&answers[i], 0, sizeof answers[i]);
            answers[i].lost = 1;
        }
        broken = broken || answers[i].later;
    }
    return true;
}

int drive_main(struct drive *drive)
{
    if (!strcmp(drive->run, "values") || !strcmp(drive->run, "injections"))
        return run_values(drive) ? 0 : 1;
    if (!strcmp(drive->run, "stream")) return run_gated(drive) ? 0 : 1;
    if (!strcmp(drive->run, "together")) return two_calls(drive, 0, false) ? 0 : 1;
    if (!strcmp(drive->run, "interleaved")) return run_interleaved(drive) ? 0 : 1;
    if (!strcmp(drive->run, "long")) return run_long(drive) ? 0 : 1;
    if (!strcmp(drive->run, "time")) return run_time(drive) ? 0 : 1;
    fprintf(stderr, "drive: no run is called %s\n", drive->run);
    return 1;
}
