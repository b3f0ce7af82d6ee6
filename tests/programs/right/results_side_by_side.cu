// Right: the results of three streams lie side by side in one page of pinned memory. The host reads
// each when its stream is done, writes beside them, and hands what is beside them to the system,
// while the others are in flight.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct Result {
    int sum[4];
    char note[48];
};

__global__ void fill(Result *result, int from)
{
    result->sum[threadIdx.x] = from + threadIdx.x;
}

// Sends the note and receives it again, in each of the ways that take it in parts or with a name.
static bool echo(char *note, size_t size)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return false;
    struct iovec part = {note, size};
    struct msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    bool fine = sendmsg(ends[0], &message, 0) == (ssize_t)size &&
                recvmsg(ends[1], &message, 0) == (ssize_t)size &&
                sendto(ends[0], note, size, 0, nullptr, 0) == (ssize_t)size &&
                recvfrom(ends[1], note, size, 0, nullptr, nullptr) == (ssize_t)size;
    close(ends[0]);
    close(ends[1]);
    FILE *file = tmpfile();
    fine = fine && file != nullptr && pwritev(fileno(file), &part, 1, 0) == (ssize_t)size &&
           preadv(fileno(file), &part, 1, 0) == (ssize_t)size;
    if (file != nullptr) fclose(file);
    return fine;
}

int main()
{
    constexpr int STREAMS = 3;
    Result *results, *device;
    cudaStream_t streams[STREAMS];
    bool fine = true;
    CHECK(cudaMallocHost(&results, STREAMS * sizeof *results));
    CHECK(cudaMalloc(&device, STREAMS * sizeof *device));
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cudaStreamCreate(&streams[i]));
        snprintf(results[i].note, sizeof results[i].note, "note %d", i);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < STREAMS; i++) {
            fill<<<1, 4, 0, streams[i]>>>(&device[i], 100 * round + 10 * i);
            CHECK(cudaMemcpyAsync(results[i].sum, device[i].sum, sizeof results[i].sum,
                                  cudaMemcpyDeviceToHost, streams[i]));
        }
        for (int i = STREAMS; i-- > 0;) {
            char wanted[48];
            for (int k = 0; k < STREAMS; k++) fine = fine && echo(results[k].note, 48);
            CHECK(cudaStreamSynchronize(streams[i]));
            for (int k = 0; k < 4; k++)
                fine = fine && results[i].sum[k] == 100 * round + 10 * i + k;
            snprintf(wanted, sizeof wanted, "note %d", i);
            fine = fine && strcmp(results[i].note, wanted) == 0;
            results[i].note[47] = (char)round;
        }
    }
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(results));
    puts(fine ? "PASS" : "FAIL");
    return fine ? 0 : 1;
}
