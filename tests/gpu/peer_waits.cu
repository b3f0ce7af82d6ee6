// What waits for another device's work, asked of two H200s. A kernel runs on device 1 until the
// host says so, in a non-blocking stream (N) or in the legacy default stream (L); then the call is
// made while device 0 is current. "waits": the call came back only when the kernel had been let go.
// "behind it": the call came back, but what it asked for was not done before.
//
//     nvcc -std=c++17 -arch=sm_90 -o peer_waits tests/gpu/peer_waits.cu -lcuda
//     ./peer_waits >tests/gpu/peer_waits.txt
#include "gpu.cuh"

#include <atomic>
#include <functional>
#include <thread>

enum { BYTES = 1 << 20 };

struct Asked {
    const char *what;
    std::function<cudaError_t()> call;
    std::function<cudaError_t()> done; // cudaErrorNotReady: the work is not done yet
};

static volatile int *go_on;
static cudaStream_t ordinary[2], apart[2];
static char *memory[2], *pinned, *pageable;
static cudaEvent_t event;

__global__ void until(volatile int *flag)
{
    while (*flag == 0) {
    }
}

__global__ void quick(char *to)
{
    *to = 1;
}

static cudaError_t on(int device, const std::function<cudaError_t()> &call)
{
    CHECK(cudaSetDevice(device));
    const cudaError_t error = call();
    CHECK(cudaSetDevice(0));
    return error;
}

// Is the default stream of the device done?
static cudaError_t idle(int device)
{
    return on(device, [] { return cudaStreamQuery(0); });
}

static void ask(const Asked &asked, int busy, const char *kind, cudaStream_t stream)
{
    *go_on = 0;
    CHECK(cudaSetDevice(busy));
    until<<<1, 1, 0, stream>>>(go_on);
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(0));
    std::atomic<bool> asked_all(false);
    std::thread other([&] {
        for (int k = 0; k < 1000 && !asked_all; k++) usleep(1000);
        *go_on = 1;
    });
    const cudaError_t error = asked.call();
    const char *how = *go_on ? "waits" : "goes on";
    if (!*go_on && asked.done) {
        cudaError_t state = cudaErrorNotReady;
        for (int k = 0; k < 50 && !*go_on && state == cudaErrorNotReady; k++) {
            usleep(200);
            state = asked.done();
        }
        how = *go_on ? "asking waits" : state == cudaErrorNotReady ? "goes on, behind it" : "done";
    }
    asked_all = true;
    other.join();
    printf("%s (%s): %s, %s\n", asked.what, kind, cudaGetErrorName(error), how);
    fflush(stdout);
    for (int device = 1; device >= 0; device--) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaDeviceSynchronize());
    }
    cudaGetLastError();
}

static void ask_both(const Asked &asked)
{
    ask(asked, 1, "N", apart[1]);
    ask(asked, 1, "L", 0);
}

static void begin()
{
    CHECK(cudaHostAlloc((void **)&go_on, 4, cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostAlloc((void **)&pinned, BYTES, cudaHostAllocPortable));
    pageable = (char *)calloc(1, BYTES);
    for (int device = 1; device >= 0; device--) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaMalloc(&memory[device], BYTES));
        CHECK(cudaMemset(memory[device], 0, BYTES));
        CHECK(cudaStreamCreate(&ordinary[device]));
        CHECK(cudaStreamCreateWithFlags(&apart[device], cudaStreamNonBlocking));
        *go_on = 1;
        until<<<1, 1>>>(go_on);
        quick<<<1, 1>>>(memory[device]);
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
}

static void ask_about_memory()
{
    static void *taken;
    ask_both({"cudaMalloc", [] { return cudaMalloc(&taken, BYTES); }});
    for (int k = 0; k < 2; k++) {
        CHECK(on(1, [] { return cudaMalloc(&taken, BYTES); }));
        ask({"cudaFree of device 1's", [] { return cudaFree(taken); }}, 1, k ? "L" : "N",
            k ? 0 : apart[1]);
        CHECK(cudaMalloc(&taken, BYTES));
        ask({"cudaFree of device 0's", [] { return cudaFree(taken); }}, 1, k ? "L" : "N",
            k ? 0 : apart[1]);
        CHECK(cudaMallocManaged(&taken, BYTES));
        ask({"cudaFree of managed memory", [] { return cudaFree(taken); }}, 1, k ? "L" : "N",
            k ? 0 : apart[1]);
        CHECK(cudaMallocHost(&taken, BYTES));
        ask({"cudaFreeHost", [] { return cudaFreeHost(taken); }}, 1, k ? "L" : "N",
            k ? 0 : apart[1]);
        ask({"cudaHostRegister", [] { return cudaHostRegister(pageable, BYTES, 0); }}, 1,
            k ? "L" : "N", k ? 0 : apart[1]);
        ask({"cudaHostUnregister", [] { return cudaHostUnregister(pageable); }}, 1, k ? "L" : "N",
            k ? 0 : apart[1]);
    }
    ask_both({"cudaMallocHost", [] { return cudaMallocHost(&taken, BYTES); }});
    ask_both({"cudaMallocManaged", [] { return cudaMallocManaged(&taken, BYTES); }});
}

static void ask_about_copies()
{
    ask_both({"cudaMemcpy to 0",
              [] { return cudaMemcpy(memory[0], pinned, BYTES, cudaMemcpyDefault); }});
    ask_both({"cudaMemcpy to 1",
              [] { return cudaMemcpy(memory[1], pinned, BYTES, cudaMemcpyDefault); }});
    ask_both({"cudaMemcpy from 0",
              [] { return cudaMemcpy(pinned, memory[0], BYTES, cudaMemcpyDefault); }});
    ask_both({"cudaMemcpy from 1",
              [] { return cudaMemcpy(pinned, memory[1], BYTES, cudaMemcpyDefault); }});
    ask_both({"cudaMemcpy from 1 to 0",
              [] { return cudaMemcpy(memory[0], memory[1], BYTES, cudaMemcpyDefault); },
              [] { return idle(0); }});
    ask_both({"cudaMemcpy from 0 to 1",
              [] { return cudaMemcpy(memory[1], memory[0], BYTES, cudaMemcpyDefault); },
              [] { return idle(0); }});
    ask_both({"cudaMemcpyPeer from 1 to 0",
              [] { return cudaMemcpyPeer(memory[0], 0, memory[1], 1, BYTES); },
              [] { return idle(0); }});
    ask_both({"cudaMemcpyPeer from 0 to 1",
              [] { return cudaMemcpyPeer(memory[1], 1, memory[0], 0, BYTES); },
              [] { return idle(0); }});
    ask_both({"cudaMemcpyPeerAsync, default stream",
              [] { return cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, BYTES, 0); },
              [] { return idle(0); }});
    ask_both({"cudaMemcpyPeerAsync, ordinary stream",
              [] { return cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, BYTES, ordinary[0]); },
              [] { return cudaStreamQuery(ordinary[0]); }});
    ask_both({"cudaMemcpyPeerAsync, non-blocking stream",
              [] { return cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, BYTES, apart[0]); },
              [] { return cudaStreamQuery(apart[0]); }});
    ask_both({"cudaMemcpyAsync, default stream",
              [] { return cudaMemcpyAsync(memory[0], memory[1], BYTES, cudaMemcpyDefault, 0); },
              [] { return idle(0); }});
    ask_both(
        {"cudaMemcpyAsync, non-blocking stream",
         [] { return cudaMemcpyAsync(memory[0], memory[1], BYTES, cudaMemcpyDefault, apart[0]); },
         [] { return cudaStreamQuery(apart[0]); }});
    ask_both({"cudaMemset of 0", [] { return cudaMemset(memory[0], 1, BYTES); },
              [] { return idle(0); }});
    ask_both({"cudaMemset of 1", [] { return cudaMemset(memory[1], 1, BYTES); },
              [] { return idle(0); }});
}

// Memory of device 0 that device 1 may use, while a kernel runs there.
static void ask_about_shared_memory()
{
    static void *taken;
    CHECK(on(1, [] { return cudaDeviceEnablePeerAccess(0, 0); }));
    for (int k = 0; k < 2; k++) {
        CHECK(cudaMalloc(&taken, BYTES));
        ask({"cudaFree of device 0's, which device 1 may use", [] { return cudaFree(taken); }}, 1,
            k ? "L" : "N", k ? 0 : apart[1]);
    }
    ask_both({"cudaMalloc on device 0, whose memory device 1 may use",
              [] { return cudaMalloc(&taken, BYTES); }});
    CHECK(on(1, [] { return cudaDeviceDisablePeerAccess(0); }));
}

// What comes behind a copy between devices that cannot begin yet: device 0's stream is busy.
static void ask_about_later()
{
    static cudaStream_t busy;
    busy = 0;
    const auto behind = [](const char *copy, const std::function<cudaError_t()> &call) {
        for (int k = 0; k < 2; k++) {
            char what[128];
            snprintf(what, sizeof what, "a kernel on 1 behind %s, %s stream", copy,
                     k ? "non-blocking" : "default");
            ask({what,
                 [&] {
                     const cudaError_t error = call();
                     if (*go_on) return error;
                     CHECK(cudaSetDevice(1));
                     quick<<<1, 1, 0, k ? apart[1] : 0>>>(memory[1]);
                     CHECK(cudaSetDevice(0));
                     return error;
                 },
                 [&] { return on(1, [&] { return cudaStreamQuery(k ? apart[1] : 0); }); }},
                0, "device 0 busy", busy);
        }
    };
    behind("cudaMemcpyPeer", [] { return cudaMemcpyPeer(memory[1], 1, memory[0], 0, BYTES); });
    behind("cudaMemcpyPeerAsync",
           [] { return cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, BYTES, 0); });
    behind("cudaMemcpy", [] { return cudaMemcpy(memory[1], memory[0], BYTES, cudaMemcpyDefault); });
    behind("cudaMemcpyAsync",
           [] { return cudaMemcpyAsync(memory[1], memory[0], BYTES, cudaMemcpyDefault, 0); });
    busy = apart[0];
    behind("cudaMemcpyPeerAsync in a non-blocking stream",
           [] { return cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, BYTES, apart[0]); });
}

static void ask_about_others()
{
    ask_both({"cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }});
    ask_both({"cudaStreamSynchronize of 0's", [] { return cudaStreamSynchronize(0); }});
    ask_both({"a kernel on 0",
              [] {
                  quick<<<1, 1>>>(memory[0]);
                  return cudaGetLastError();
              },
              [] { return idle(0); }});
    ask_both({"an event of 1 in a stream of 0",
              [] {
                  CHECK(on(1, [] {
                      static cudaEvent_t of_one;
                      if (!of_one) CHECK(cudaEventCreate(&of_one));
                      CHECK(cudaEventRecord(of_one, 0));
                      return cudaStreamWaitEvent(apart[0], of_one, 0);
                  }));
                  return cudaSuccess;
              },
              [] { return cudaStreamQuery(apart[0]); }});
    ask_both({"cudaDeviceEnablePeerAccess", [] { return cudaDeviceEnablePeerAccess(1, 0); }});
    CHECK(cudaDeviceDisablePeerAccess(1));
    ask({"cudaDeviceEnablePeerAccess", [] { return cudaDeviceEnablePeerAccess(1, 0); }}, 1, "L", 0);
    ask({"cudaDeviceDisablePeerAccess", [] { return cudaDeviceDisablePeerAccess(1); }}, 1, "N",
        apart[1]);
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    ask({"cudaDeviceDisablePeerAccess", [] { return cudaDeviceDisablePeerAccess(1); }}, 1, "L", 0);
    ask_both({"cudaDeviceSetLimit", [] {
                  static size_t size = 8 << 10;
                  return cudaDeviceSetLimit(cudaLimitStackSize, size *= 2);
              }});
    ask_both({"cudaStreamCreate", [] {
                  cudaStream_t stream;
                  return cudaStreamCreate(&stream);
              }});
    ask_both({"cuCtxCreate", [] {
                  CUcontext context, before;
                  NEED(cuCtxGetCurrent(&before));
                  NEED(cuCtxCreate(&context, NULL, 0, 0));
                  NEED(cuCtxSetCurrent(before));
                  return cudaSuccess;
              }});
}

// Calls that name device 1's memory while device 0 is current and either of them is busy, in an
// ordinary stream (B) too.
static void ask_about_places()
{
    const struct {
        int busy;
        const char *kind;
        cudaStream_t stream;
    } places[] = {{1, "1 B", ordinary[1]}, {1, "1 L", 0}, {1, "1 N", apart[1]},
                  {0, "0 B", ordinary[0]}, {0, "0 L", 0}, {0, "0 N", apart[0]}};
    const Asked calls[] = {
        {"cudaMemcpy to 1", [] { return cudaMemcpy(memory[1], pinned, BYTES, cudaMemcpyDefault); }},
        {"cudaMemcpy from 1",
         [] { return cudaMemcpy(pinned, memory[1], BYTES, cudaMemcpyDefault); }},
        {"cudaMemcpy from 1 to 1",
         [] { return cudaMemcpy(memory[1], memory[1] + BYTES / 2, 4096, cudaMemcpyDefault); },
         [] { return idle(0); }},
        {"cudaMemcpyAsync to 1, default stream",
         [] { return cudaMemcpyAsync(memory[1], pinned, BYTES, cudaMemcpyDefault, 0); },
         [] { return idle(0); }},
        {"cudaMemcpyAsync to 1, ordinary stream",
         [] { return cudaMemcpyAsync(memory[1], pinned, BYTES, cudaMemcpyDefault, ordinary[0]); },
         [] { return cudaStreamQuery(ordinary[0]); }},
        {"cudaMemcpyAsync from 1 to 1, default stream",
         [] {
             return cudaMemcpyAsync(memory[1], memory[1] + BYTES / 2, 4096, cudaMemcpyDefault, 0);
         },
         [] { return idle(0); }},
        {"cudaMemcpyPeer", [] { return cudaMemcpyPeer(memory[1], 1, memory[0], 0, BYTES); },
         [] { return idle(0); }},
        {"cudaMemcpyPeerAsync, default stream",
         [] { return cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, BYTES, 0); },
         [] { return idle(0); }},
        {"cudaMemcpyPeerAsync, ordinary stream",
         [] { return cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, BYTES, ordinary[0]); },
         [] { return cudaStreamQuery(ordinary[0]); }},
        {"cudaMemcpyPeerAsync, ordinary stream of 1",
         [] { return cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, BYTES, ordinary[1]); },
         [] { return cudaStreamQuery(ordinary[1]); }},
        {"cudaMemcpy2D from 0 to 1",
         [] { return cudaMemcpy2D(memory[1], 64, memory[0], 64, 32, 8, cudaMemcpyDefault); },
         [] { return idle(0); }},
        {"cudaMemset of 0", [] { return cudaMemset(memory[0], 1, BYTES); }, [] { return idle(0); }},
    };
    for (const auto &call : calls)
        for (const auto &place : places) ask(call, place.busy, place.kind, place.stream);
}

// A kernel on 1, in each of its streams, behind a call while device 0 is busy: is it held up?
static void ask_what_is_held_up()
{
    static cudaStream_t of_kernel;
    const struct {
        const char *what;
        std::function<cudaError_t()> call;
    } calls[] = {
        {"cudaMemcpyPeer", [] { return cudaMemcpyPeer(memory[1], 1, memory[0], 0, BYTES); }},
        {"cudaMemcpyAsync to 1",
         [] { return cudaMemcpyAsync(memory[1], pinned, BYTES, cudaMemcpyDefault, 0); }},
        {"cudaMemcpyAsync from 1 to 1",
         [] {
             return cudaMemcpyAsync(memory[1], memory[1] + BYTES / 2, 4096, cudaMemcpyDefault, 0);
         }},
    };
    for (const auto &call : calls)
        for (int k = 0; k < 3; k++) {
            char what[128];
            of_kernel = k == 0 ? 0 : k == 1 ? ordinary[1] : apart[1];
            snprintf(what, sizeof what, "a kernel on 1 in %s behind %s",
                     k == 0   ? "L"
                     : k == 1 ? "B"
                              : "N",
                     call.what);
            ask({what,
                 [&] {
                     const cudaError_t error = call.call();
                     if (*go_on) return error;
                     CHECK(cudaSetDevice(1));
                     quick<<<1, 1, 0, of_kernel>>>(memory[1]);
                     CHECK(cudaSetDevice(0));
                     return error;
                 },
                 [] { return on(1, [] { return cudaStreamQuery(of_kernel); }); }},
                0, "0 L", 0);
        }
}

int main()
{
    begin();
    ask_about_memory();
    ask_about_copies();
    ask_about_later();
    ask_about_shared_memory();
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    printf("device 1 is a peer of device 0 now\n");
    ask_about_copies();
    ask_about_later();
    CHECK(cudaDeviceDisablePeerAccess(1));
    ask_about_others();
    ask_about_places();
    ask_what_is_held_up();
    return 0;
}
