// Another process of the user's, or a stray pointer, writes into the memory that the stand-in's
// ranks share. What a rank reads there names no function and no type, and its numbers lead nowhere:
// the ranks end with an error, and can be given up. Of no use with NVIDIA's library.
#include "tests/standins/comm.cuh"
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANKS = 2, N = 100, ROUNDS = 12 };

static ncclComm_t comms[RANKS];
static float *values[RANKS];

struct Memory {
    unsigned char *at;
    size_t size;
};

// Makes the communicator, and maps the memory that its id tells of.
static Memory begin()
{
    int process, file;
    char path[64];
    struct stat about;
    ncclUniqueId id;
    MUST(ncclGetUniqueId(&id));
    MUST(ncclGroupStart());
    for (int k = 0; k < RANKS; k++) {
        MUST(cudaSetDevice(k));
        MUST(ncclCommInitRank(&comms[k], RANKS, id, k));
    }
    MUST(ncclGroupEnd());
    if (sscanf(id.bytes, "overlap-nccl-%d-%d-", &process, &file) != 2) exit(1);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
    file = open(path, O_RDWR);
    if (file < 0 || fstat(file, &about) != 0) exit(1);
    void *at = mmap(nullptr, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) exit(1);
    printf("cut short: %s\n", ftruncate(file, 1) == 0 ? "yes" : "no");
    return {(unsigned char *)at, (size_t)about.st_size};
}

static std::string said; // of the latest failure

static int sum()
{
    int result = 0;
    for (int k = 0; k < RANKS; k++) {
        const int one =
            ncclAllReduce(values[k], values[k], N, ncclFloat32, ncclSum, comms[k], nullptr);
        if (result == 0 && one != 0) said = ncclGetLastError(nullptr);
        if (result == 0) result = one;
    }
    return result;
}

static void end(const Memory &memory)
{
    for (int k = 0; k < RANKS; k++) {
        MUST(ncclCommAbort(comms[k]));
        MUST(cudaSetDevice(k));
        MUST(cudaDeviceSynchronize());
    }
    munmap(memory.at, memory.size);
}

int main()
{
    for (int k = 0; k < RANKS; k++) {
        MUST(cudaSetDevice(k));
        MUST(cudaMalloc(&values[k], N * sizeof(float)));
        MUST(cudaMemset(values[k], 0, N * sizeof(float)));
    }
    // A note of collective 12: of function 12, or of a type that is none, at one of four places.
    const uint64_t notes[][4] = {{12, 12, 12, 12},
                                 {12, N, (uint64_t)99 << 32, 0},
                                 {0, 12, N, (uint64_t)99 << 32},
                                 {(uint64_t)99 << 32, 0, 12, N},
                                 {N, (uint64_t)99 << 32, 0, 12}};
    for (const uint64_t *note : notes) {
        const Memory memory = begin();
        for (int i = 1; i < 12; i++) MUST(sum());
        for (size_t i = 64; i + sizeof notes[0] <= memory.size / 2; i += sizeof notes[0])
            memcpy(memory.at + i, note, sizeof notes[0]);
        if (sum() != 0) printf("%s\n", said.c_str());
        end(memory);
    }
    uint64_t random = 88172645463325252u;
    int named = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const Memory memory = begin();
        sum();
        for (size_t i = 0; i + 8 <= memory.size; i += 8) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            if (round % 2 == 0 || random % 16 == 0) memcpy(memory.at + i, &random, sizeof random);
        }
        named += sum() != 0;
        end(memory);
    }
    for (int k = 0; k < RANKS; k++) MUST(cudaFree(values[k]));
    printf("survived, named %s\n", named >= ROUNDS / 2 ? "mostly" : "rarely");
    return 0;
}
