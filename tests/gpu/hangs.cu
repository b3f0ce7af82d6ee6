// Asks which waits for a barrier object end: the kernels of tests/exec/hangs.cu, each in a process
// of its own. Each line is a kernel and its answer. "does not end": it had not after MOST_SECONDS,
// or the driver stopped it because it runs too long (cudaErrorLaunchTimeout), which is what the
// software device says of a wait that can never end. What waits for a minute there waits for a
// second here. hangs.txt has what an H100 and an H200 said.
//
//     nvcc -std=c++17 -arch=sm_90 -diag-suppress 20054 -I. -o hangs tests/gpu/hangs.cu &&
//     MOST_SECONDS=3 ./hangs >tests/gpu/hangs.txt
#define A_LONG_TIME 1500000000ll
#include "tests/exec/hangs.cu"
#include "tests/gpu/gpu.cuh"

#include <cstring>
#include <signal.h>
#include <time.h>

enum { BLOCKS = 4, THREADS = 128, WORDS = 1024 };

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }

static const struct {
    const char *name;
    void (*kernel)(const int *in, int *out);
} cases[] = {
    CASE(parity_is_wrong),
    CASE(too_many_bytes),
    CASE(no_copy),
    CASE(bytes_not_announced),
    CASE(too_few_arrive),
    CASE(behind_a_barrier),
    CASE(reader_does_not_arrive),
    CASE(lanes_of_one_warp),
    CASE(sleeps_meanwhile),
    CASE(asks_in_a_function),
    CASE(library_barrier),
    CASE(flag_behind_it),
    CASE(counts_its_rounds),
    CASE(library_pipeline),
    CASE(of_a_cluster),
    CASE(right_stages),
    CASE(right_library_barrier),
    CASE(right_bounded_by_count),
    CASE(right_bounded_by_a_place),
    CASE(right_bounded_by_time),
    CASE(right_bounded_by_short_clock),
    CASE(right_bounded_beside_a_clock),
    CASE(right_count_in_shared_memory),
    CASE(right_count_in_local_memory),
    CASE(right_slow_lane),
    CASE(right_late_lane),
    CASE(right_told_by_a_block),
    CASE(right_ended_by_a_block),
    CASE(right_ended_through_a_function),
    CASE(right_ended_by_a_block_atomically),
    CASE(right_slow_cluster),
    CASE(right_late_cluster),
};

// It ends the process, which nothing else would.
static void give_up(const char *name)
{
    printf("%s: does not end\n", name);
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

static void ask(size_t at)
{
    const char *most = getenv("MOST_SECONDS");
    const time_t seconds = most != NULL ? atoi(most) : 120;
    int *in, *out;
    CHECK(cudaMalloc(&in, WORDS * sizeof *in));
    CHECK(cudaMalloc(&out, WORDS * sizeof *out));
    CHECK(cudaMemset(in, 0, WORDS * sizeof *in));
    CHECK(cudaMemset(out, 0, WORDS * sizeof *out));
    CHECK(cudaDeviceSynchronize());
    cases[at].kernel<<<BLOCKS, THREADS>>>(in, out);
    const time_t begin = time(NULL);
    cudaError_t error;
    while ((error = cudaStreamQuery(0)) == cudaErrorNotReady)
        if (time(NULL) - begin > seconds) give_up(cases[at].name);
    if (error == cudaErrorLaunchTimeout) give_up(cases[at].name);
    printf("%s: %s\n", cases[at].name, error == cudaSuccess ? "ends" : cudaGetErrorName(error));
}

int main(int count, char **arguments)
{
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (count < 2)
            in_process(arguments[0], cases[k].name);
        else if (strcmp(arguments[1], cases[k].name) == 0)
            ask(k);
    }
}
