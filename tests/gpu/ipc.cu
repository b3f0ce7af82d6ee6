// Memory and events between processes, asked of a GPU: what may be shared, what opening answers in
// the same process and in another, and how often. Each line is a case and its answer.
// ipc.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o ipc tests/gpu/ipc.cu && ./ipc > tests/gpu/ipc.txt
#include "gpu.cuh"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr int WORDS = 3000, BYTES = WORDS * 4, LAZY = cudaIpcMemLazyEnablePeerAccess;

struct Message {
    cudaIpcMemHandle_t memory, inside;
    cudaIpcEventHandle_t event;
};

static int other(int from)
{
    Message message;
    cudaEvent_t event;
    int *p, *again, *inside, words[WORDS], right = 1;
    if (read(from, &message, sizeof message) != (ssize_t)sizeof message) return 1;
    say("flags 0", cudaIpcOpenMemHandle((void **)&p, message.memory, 0));
    say("open", cudaIpcOpenMemHandle((void **)&p, message.memory, LAZY));
    say("open again", cudaIpcOpenMemHandle((void **)&again, message.memory, LAZY));
    printf("the same address: %d\n", p == again);
    say("open from inside", cudaIpcOpenMemHandle((void **)&inside, message.inside, LAZY));
    printf("from inside, words further: %d\n", (int)(inside - p));
    say("copy", cudaMemcpy(words, p, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < WORDS; i++) right &= words[i] == 3 * i;
    printf("contents: %d\n", right);
    say("free of what is opened", cudaFree(p));
    say("open event", cudaIpcOpenEventHandle(&event, message.event));
    say("query", cudaEventQuery(event));
    say("record", cudaEventRecord(event));
    say("synchronise", cudaEventSynchronize(event));
    say("fill", cudaMemset(p, 7, BYTES));
    say("wait", cudaDeviceSynchronize());
    say("destroy event", cudaEventDestroy(event));
    say("close", cudaIpcCloseMemHandle(p));
    say("close again", cudaIpcCloseMemHandle(again));
    say("close the third", cudaIpcCloseMemHandle(inside));
    say("close once more", cudaIpcCloseMemHandle(p));
    fflush(stdout);
    return 0;
}

int main()
{
    int ends[2], status = 0, words[WORDS], *p, *pooled, *managed, *opened, supported = -1;
    cudaEvent_t event, plain;
    cudaIpcMemHandle_t handle;
    Message message;
    if (pipe(ends) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) _exit(other(ends[0]));
    for (int i = 0; i < WORDS; i++) words[i] = 3 * i;
    cudaDeviceGetAttribute(&supported, cudaDevAttrIpcEventSupport, 0);
    say("malloc", cudaMalloc(&p, BYTES));
    say("fill", cudaMemcpy(p, words, BYTES, cudaMemcpyHostToDevice));
    say("async malloc", cudaMallocAsync(&pooled, BYTES, 0));
    say("managed", cudaMallocManaged(&managed, BYTES));
    say("event", cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    say("plain event", cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    say("handle of pooled memory", cudaIpcGetMemHandle(&handle, pooled));
    say("handle of managed memory", cudaIpcGetMemHandle(&handle, managed));
    say("handle of host memory", cudaIpcGetMemHandle(&handle, words));
    say("handle of a plain event", cudaIpcGetEventHandle(&message.event, plain));
    say("handle", cudaIpcGetMemHandle(&message.memory, p));
    say("handle from inside", cudaIpcGetMemHandle(&message.inside, p + 64));
    say("handle of an event", cudaIpcGetEventHandle(&message.event, event));
    say("open here", cudaIpcOpenMemHandle((void **)&opened, message.memory, LAZY));
    say("open the event here", cudaIpcOpenEventHandle(&plain, message.event));
    say("close what is not opened", cudaIpcCloseMemHandle(p));
    printf("events: %d\n", supported);
    fflush(stdout);
    if (write(ends[1], &message, sizeof message) != (ssize_t)sizeof message) return 1;
    waitpid(child, &status, 0);
    say("copy", cudaMemcpy(words, p, BYTES, cudaMemcpyDeviceToHost));
    printf("filled by the other: %x %x\n", (unsigned)words[0], (unsigned)words[WORDS - 1]);
    say("free", cudaFree(p));
    return status;
}
