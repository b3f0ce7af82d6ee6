// Code that is loaded and unloaded during a capture, asked of a GPU: which call ends the capture,
// in each mode. Each line is a call and its answer, and what came of the capture.
// capture_modules.txt has what an H200 answered to the same calls (driver 580.159.04).
//
//     nvcc -std=c++17 -arch=sm_90 -o capture_modules tests/gpu/capture_modules.cu -lcuda &&
//     ./capture_modules >tests/gpu/capture_modules.txt
#include "ask.cuh"

static const char text[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                           ".visible .global .b32 v = 5;\n"
                           ".visible .entry k() { ret; }\n";
static cudaStream_t stream;
static CUstreamCaptureMode mode;

// Asks `call` during a capture.
static void during(const char *what, CUresult (*call)())
{
    CUgraph graph = nullptr;
    Q(cuStreamBeginCapture(stream, mode));
    const CUresult code = call();
    const CUresult ended = cuStreamEndCapture(stream, &graph);
    say("%s: %s, the capture: %s", what, name_of(code), name_of(ended));
    if (graph != nullptr) Q(cuGraphDestroy(graph));
}

static CUmodule module, other;
static CUlibrary library;
static CUlinkState link_state;
static CUfunction function;
static CUkernel kernel;
static CUdeviceptr address;
static size_t size;

static void ask(CUstreamCaptureMode of)
{
    mode = of;
    Q(cudaStreamCreate(&stream));
    FILE *file = fopen("/tmp/capture_modules.ptx", "w");
    if (file == nullptr || fputs(text, file) < 0 || fclose(file) != 0) say("UNEXPECTED: no file");
#define DURING(call) during(#call, []() -> CUresult { return call; })
    DURING(cuModuleLoadData(&module, text));
    Q(module == nullptr ? cuModuleLoadData(&module, text) : CUDA_SUCCESS);
    DURING(cuModuleLoadDataEx(&other, text, 0, nullptr, nullptr));
    Q(other == nullptr ? cuModuleLoadData(&other, text) : CUDA_SUCCESS);
    DURING(cuModuleGetFunction(&function, module, "k"));
    DURING(cuModuleGetGlobal(&address, &size, module, "v"));
    DURING(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    DURING(cuModuleUnload(other));
    DURING(cuModuleLoad(&other, "/tmp/capture_modules.ptx"));
    DURING(cuModuleLoadFatBinary(&other, text));
    DURING(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    Q(library == nullptr
          ? cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0)
          : CUDA_SUCCESS);
    DURING(cuLibraryGetKernel(&kernel, library, "k"));
    DURING(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    DURING(cuLibraryUnload(library));
    DURING(cuLinkCreate(0, nullptr, nullptr, &link_state));
    Q(cuLinkDestroy(link_state));
    Q(cudaStreamDestroy(stream));
    remove("/tmp/capture_modules.ptx");
}

SECTION(global)
{
    ask(CU_STREAM_CAPTURE_MODE_GLOBAL);
}

SECTION(local)
{
    ask(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

SECTION(relaxed)
{
    ask(CU_STREAM_CAPTURE_MODE_RELAXED);
}
