// Programs that compile CUDA C++ at run time (NVRTC) and load what comes out.
#include "tests/programs/driver_program.cuh"

#include <nvrtc.h>
#include <string>
#include <vector>

#define CHECK_NVRTC(call)                                                                          \
    do {                                                                                           \
        nvrtcResult result_ = (call);                                                              \
        if (result_ != NVRTC_SUCCESS) {                                                            \
            std::fprintf(stderr, "%s:%d: %s gives %s\n", __FILE__, __LINE__, #call,                \
                         nvrtcGetErrorString(result_));                                            \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static const char source[] = R"(
template <typename T> __global__ void scale(T *data, T factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * factor + T(i % 7);
}
namespace settings {
__constant__ int offsets[3];
__device__ long long total = 5;
}
__global__ void add(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += settings::offsets[i % 3] + (int)settings::total;
}
extern "C" __global__ void plain(unsigned *out)
{
    __shared__ unsigned room[64];
    room[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    out[threadIdx.x] = room[63 - threadIdx.x];
}
)";

struct Compiled {
    nvrtcProgram program;
    std::string ptx;

    Compiled(const char *text, const std::vector<const char *> &names,
             std::vector<const char *> options)
    {
        size_t size;
        options.push_back("--gpu-architecture=compute_75");
        CHECK_NVRTC(nvrtcCreateProgram(&program, text, "program.cu", 0, nullptr, nullptr));
        for (const char *name : names) CHECK_NVRTC(nvrtcAddNameExpression(program, name));
        nvrtcResult result =
            nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
        if (result != NVRTC_SUCCESS) {
            CHECK_NVRTC(nvrtcGetProgramLogSize(program, &size));
            std::string log(size, ' ');
            CHECK_NVRTC(nvrtcGetProgramLog(program, &log[0]));
            std::fprintf(stderr, "%s\n", log.c_str());
            std::exit(1);
        }
        CHECK_NVRTC(nvrtcGetPTXSize(program, &size));
        ptx.resize(size);
        CHECK_NVRTC(nvrtcGetPTX(program, &ptx[0]));
    }
    const char *lowered(const char *name) const
    {
        const char *mangled;
        CHECK_NVRTC(nvrtcGetLoweredName(program, name, &mangled));
        return mangled;
    }
    ~Compiled()
    {
        nvrtcDestroyProgram(&program);
    }
};

static void lowered_names()
{
    use_primary_context();
    Compiled compiled(
        source, {"scale<float>", "scale<double>", "add", "&settings::offsets", "&settings::total"},
        {"--std=c++17"});
    CUmodule module;
    CUfunction kernel;
    const int n = 1000;
    CHECK_DRIVER(cuModuleLoadData(&module, compiled.ptx.c_str()));

    std::vector<double> data(n);
    CUdeviceptr device, variable;
    size_t size;
    for (int i = 0; i < n; i++) data[i] = value_at(i);
    CHECK_DRIVER(cuMemAlloc(&device, n * sizeof(double)));
    CHECK_DRIVER(cuMemcpyHtoD(device, data.data(), n * sizeof(double)));
    CHECK_DRIVER(cuModuleGetFunction(&kernel, module, compiled.lowered("scale<double>")));
    double factor = 0.5;
    int count = n;
    void *scaled[] = {&device, &factor, &count};
    CHECK_DRIVER(cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, nullptr, scaled, nullptr));
    std::vector<double> out(n);
    CHECK_DRIVER(cuMemcpyDtoH(out.data(), device, n * sizeof(double)));
    for (int i = 0; i < n; i++) EXPECT(out[i] == data[i] * 0.5 + i % 7);

    const int offsets[3] = {10, 200, 3000};
    CHECK_DRIVER(
        cuModuleGetGlobal(&variable, &size, module, compiled.lowered("&settings::offsets")));
    EXPECT(size == sizeof offsets);
    CHECK_DRIVER(cuMemcpyHtoD(variable, offsets, sizeof offsets));
    CHECK_DRIVER(cuModuleGetGlobal(&variable, &size, module, compiled.lowered("&settings::total")));
    EXPECT(size == 8);
    std::vector<int> numbers(n, 1);
    CHECK_DRIVER(cuMemcpyHtoD(device, numbers.data(), n * sizeof(int)));
    CHECK_DRIVER(cuModuleGetFunction(&kernel, module, compiled.lowered("add")));
    void *added[] = {&device, &count};
    CHECK_DRIVER(cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, nullptr, added, nullptr));
    CHECK_DRIVER(cuMemcpyDtoH(numbers.data(), device, n * sizeof(int)));
    for (int i = 0; i < n; i++) EXPECT(numbers[i] == 1 + offsets[i % 3] + 5);
    CHECK_DRIVER(cuMemFree(device));
    CHECK_DRIVER(cuModuleUnload(module));
}

static void runtime_library()
{
    Compiled compiled(source, {}, {"-lineinfo"});
    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned *device, out[64];
    CHECK(cudaLibraryLoadData(&library, compiled.ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                              0));
    CHECK(cudaLibraryGetKernel(&kernel, library, "plain"));
    CHECK(cudaMalloc(&device, sizeof out));
    void *parameters[] = {&device};
    CHECK(cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(1), dim3(64), parameters, 0,
                           nullptr));
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 64; i++) EXPECT(out[i] == (63 - i) * 3);
    CHECK(cudaFree(device));
    CHECK(cudaLibraryUnload(library));
}

// Two programs compiled on their own, linked together.
static void linked()
{
    use_primary_context();
    static const char caller[] =
        "extern __device__ int chosen(int);\n"
        "extern __device__ int calls;\n"
        "extern __shared__ int room[];\n"
        "extern \"C\" __global__ void kernel(int *out) {\n"
        "    room[threadIdx.x] = chosen(threadIdx.x);\n"
        "    __syncthreads();\n"
        "    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x] + calls;\n"
        "}\n";
    static const char callee[] = "__device__ int calls = 40;\n"
                                 "static __device__ __noinline__ int helper(int x)\n"
                                 "{ return x * x; }\n"
                                 "__device__ int chosen(int x) { return helper(x) + 1; }\n";
    Compiled first(caller, {}, {"--relocatable-device-code=true"});
    Compiled second(callee, {}, {"--relocatable-device-code=true"});
    CUlinkState state;
    CUmodule module;
    CUfunction kernel;
    void *image;
    CHECK_DRIVER(cuLinkCreate(0, nullptr, nullptr, &state));
    CHECK_DRIVER(cuLinkAddData(state, CU_JIT_INPUT_PTX, &first.ptx[0], first.ptx.size(), "caller",
                               0, nullptr, nullptr));
    CHECK_DRIVER(cuLinkAddData(state, CU_JIT_INPUT_PTX, &second.ptx[0], second.ptx.size(), "callee",
                               0, nullptr, nullptr));
    CHECK_DRIVER(cuLinkComplete(state, &image, nullptr));
    CHECK_DRIVER(cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr));
    CHECK_DRIVER(cuLinkDestroy(state));
    CHECK_DRIVER(cuModuleGetFunction(&kernel, module, "kernel"));
    const int n = 96;
    int out[n];
    CUdeviceptr device;
    CHECK_DRIVER(cuMemAlloc(&device, sizeof out));
    void *parameters[] = {&device};
    CHECK_DRIVER(
        cuLaunchKernel(kernel, 1, 1, 1, n, 1, 1, n * sizeof(int), nullptr, parameters, nullptr));
    CHECK_DRIVER(cuMemcpyDtoH(out, device, sizeof out));
    for (int i = 0; i < n; i++) EXPECT(out[i] == (n - 1 - i) * (n - 1 - i) + 41);
    CHECK_DRIVER(cuMemFree(device));
    CHECK_DRIVER(cuModuleUnload(module));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {
        {"lowered_names", lowered_names},
        {"runtime_library", runtime_library},
        {"linked", linked},
    };
    return run_programs(argc, argv, programs);
}
