/* A program that asks NVIDIA's run-time compiler, or linker, for machine code, loads what it gets
 * and launches it: prints what kind of image that was and what the kernel wrote.
 *
 *   front_compiler nvrtc LIBRARY                compiles for sm_90, and for compute_90
 *   front_compiler beyond LIBRARY               a kernel that writes out of bounds
 *   front_compiler link NVJITLINK               two texts of PTX
 *   front_compiler optimise NVJITLINK NVRTC     LTO-IR, and PTX beside it
 *   front_compiler refuse NVJITLINK             PTX with a mistake, and a link that lacks a
 * function
 */
#include <cuda.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who opens it again, by its name alone, gets the same. */
static void *open_library(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    if (dlopen(name, RTLD_NOW | RTLD_NOLOAD) != library) printf("%s is another one\n", name);
    return library;
}

static const char twice[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                            ".visible .func (.param .b32 r) twice(.param .b32 a) {\n"
                            ".reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.s32 %r1, %r1, %r1;\n"
                            "st.param.b32 [r], %r1; ret; }\n";
static const char caller[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                             ".extern .func (.param .b32 r) twice(.param .b32 a);\n"
                             ".visible .entry k(.param .u64 p) {\n"
                             ".reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [p];\n"
                             "{ .param .b32 a; .param .b32 r; st.param.b32 [a], 21;\n"
                             "call (r), twice, (a); ld.param.b32 %r1, [r]; }\n"
                             "st.global.u32 [%rd1], %r1; ret; }\n";
/* Nothing reaches this one, so that a linker leaves it out with what it lacks. */
static const char unreached[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                                ".extern .func nowhere;\n"
                                ".visible .func unreached { call nowhere; ret; }\n";

/* Loads the image and launches its kernel k(int *). */
static void show(const char *what, const char *image)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    int value = -1;
    void *parameters[] = {&p};
    cuInit(0);
    cuCtxCreate(&context, NULL, 0, 0);
    CUresult result = cuModuleLoadData(&module, image);
    if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&function, module, "k");
    if (result == CUDA_SUCCESS) {
        cuMemAlloc(&p, sizeof value);
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
        cuMemcpyDtoH(&value, p, sizeof value);
        cuMemFree(p);
        cuModuleUnload(module);
    }
    printf("%s: %s%s%s, %d: %d\n", what, strstr(image, ".version") != NULL ? "PTX" : "no PTX",
           strstr(image, ".loc") != NULL ? " with lines" : "",
           strstr(image, ".maxnreg") != NULL ? " of limited registers" : "", (int)result, value);
    cuCtxDestroy(context);
}

/* ---- NVRTC --------------------------------------------------------------------------------- */

struct compiler {
    int (*nvrtcCreateProgram)(void **, const char *, const char *, int, void *, void *);
    int (*nvrtcCompileProgram)(void *, int, const char *const *);
    int (*nvrtcGetCUBINSize)(void *, size_t *);
    int (*nvrtcGetCUBIN)(void *, char *);
    int (*nvrtcGetLTOIRSize)(void *, size_t *);
    int (*nvrtcGetLTOIR)(void *, char *);
};

static struct compiler open_compiler(const char *path)
{
    struct compiler compiler;
    void *library = open_library(path, "libnvrtc.so.13");
    *(void **)&compiler.nvrtcCreateProgram = dlsym(library, "nvrtcCreateProgram");
    *(void **)&compiler.nvrtcCompileProgram = dlsym(library, "nvrtcCompileProgram");
    *(void **)&compiler.nvrtcGetCUBINSize = dlsym(library, "nvrtcGetCUBINSize");
    *(void **)&compiler.nvrtcGetCUBIN = dlsym(library, "nvrtcGetCUBIN");
    *(void **)&compiler.nvrtcGetLTOIRSize = dlsym(library, "nvrtcGetLTOIRSize");
    *(void **)&compiler.nvrtcGetLTOIR = dlsym(library, "nvrtcGetLTOIR");
    return compiler;
}

static void *compile(const struct compiler *compiler, const char *source, const char *architecture,
                     const char *more)
{
    void *program = NULL;
    const char *options[] = {architecture, more, "-rdc=true"};
    compiler->nvrtcCreateProgram(&program, source, "k.cu", 0, NULL, NULL);
    const int result = compiler->nvrtcCompileProgram(program, more != NULL ? 3 : 1, options);
    if (result != 0) printf("nvrtcCompileProgram: %d\n", result);
    return program;
}

static void ask_compiler(const char *path)
{
    static const char source[] = "extern \"C\" __global__ void k(int *p) { *p = 7; }";
    const struct compiler compiler = open_compiler(path);
    size_t size = 0;
    void *program = compile(&compiler, source, "-arch=sm_90", NULL);
    printf("size: %d", compiler.nvrtcGetCUBINSize(program, &size));
    char *image = calloc(1, size + 1);
    printf(", image: %d\n", compiler.nvrtcGetCUBIN(program, image));
    show("sm_90", image);
    program = compile(&compiler, source, "-arch=compute_90", NULL);
    printf("compute_90: %d", compiler.nvrtcGetCUBINSize(program, &size));
    printf(", %zu bytes\n", size);
    printf("no program: %d\n", compiler.nvrtcGetCUBINSize(NULL, &size));
    free(image);
}

static void compile_a_mistake(const char *path)
{
    const struct compiler compiler = open_compiler(path);
    size_t size = 0;
    void *program =
        compile(&compiler,
                "extern \"C\" __global__ void k(int *p)\n{\n    p[99] = 7; // sieben, größer\n}\n",
                "-arch=sm_90", NULL);
    compiler.nvrtcGetCUBINSize(program, &size);
    char *image = calloc(1, size + 1);
    compiler.nvrtcGetCUBIN(program, image);
    show("a mistake", image);
    free(image);
}

/* ---- nvJitLink ----------------------------------------------------------------------------- */

enum { INPUT_PTX = 2, INPUT_LTOIR = 3 };

struct linker {
    int (*create)(void **, unsigned, const char **);
    int (*add)(void *, int, const void *, size_t, const char *);
    int (*complete)(void *);
    int (*size)(void *, size_t *);
    int (*image)(void *, void *);
    int (*destroy)(void **);
};

static struct linker open_linker(const char *path)
{
    struct linker linker;
    void *library = open_library(path, "libnvJitLink.so.13");
    *(void **)&linker.create = dlsym(library, "nvJitLinkCreate");
    *(void **)&linker.add = dlsym(library, "nvJitLinkAddData");
    *(void **)&linker.complete = dlsym(library, "__nvJitLinkComplete_13_0");
    *(void **)&linker.size = dlsym(library, "nvJitLinkGetLinkedCubinSize");
    *(void **)&linker.image = dlsym(library, "nvJitLinkGetLinkedCubin");
    *(void **)&linker.destroy = dlsym(library, "nvJitLinkDestroy");
    return linker;
}

static void finish(const struct linker *linker, void *link, const char *what)
{
    size_t size = 0;
    const int completed = linker->complete(link);
    const int sized = completed == 0 ? linker->size(link, &size) : -1;
    char *image = calloc(1, size + 1);
    printf("complete: %d, size: %d\n", completed, sized);
    if (sized == 0 && linker->image(link, image) == 0) show(what, image);
    printf("destroy: %d\n", linker->destroy(&link));
    free(image);
}

static void ask_linker(const char *path)
{
    const struct linker linker = open_linker(path);
    const char *options[] = {"-arch=sm_90", "-maxrregcount=32"};
    void *link = NULL;
    printf("create: %d, no architecture: %d\n", linker.create(&link, 1, options),
           linker.create(&(void *){NULL}, 0, options));
    printf("add: %d", linker.add(link, INPUT_PTX, caller, sizeof caller, "caller"));
    printf(", %d\n", linker.add(link, INPUT_PTX, twice, sizeof twice - 1, NULL));
    finish(&linker, link, "two texts");
    linker.create(&link, 2, options);
    linker.add(link, INPUT_PTX, caller, sizeof caller, "caller");
    linker.add(link, INPUT_PTX, twice, sizeof twice, "twice");
    finish(&linker, link, "two texts");
    linker.create(&link, 1, options);
    linker.add(link, INPUT_PTX, caller, sizeof caller, "caller");
    linker.add(link, INPUT_PTX, twice, sizeof twice, "twice");
    linker.add(link, INPUT_PTX, unreached, sizeof unreached, "unreached");
    finish(&linker, link, "one more, which lacks a function");
}

static void ask_to_optimise(const char *linker_path, const char *compiler_path)
{
    static const char source[] = "extern \"C\" __device__ int twice(int);"
                                 "extern \"C\" __global__ void k(int *p) { *p = twice(14); }";
    const struct linker linker = open_linker(linker_path);
    const struct compiler compiler = open_compiler(compiler_path);
    const char *options[] = {"-arch=sm_90", "-lto"};
    size_t size = 0;
    void *link = NULL, *program = compile(&compiler, source, "-arch=sm_90", "-dlto");
    compiler.nvrtcGetLTOIRSize(program, &size);
    char *code = calloc(1, size + 1);
    compiler.nvrtcGetLTOIR(program, code);
    linker.create(&link, 2, options);
    printf("add: %d", linker.add(link, INPUT_LTOIR, code, size, "caller"));
    printf(", %d\n", linker.add(link, INPUT_PTX, twice, sizeof twice, "twice"));
    finish(&linker, link, "LTO-IR and a text");
    free(code);
}

static void ask_in_vain(const char *path)
{
    static const char mistake[] = ".version 7.5\n.target sm_75\n.address_size 64\nnonsense\n";
    const struct linker linker = open_linker(path);
    const char *options[] = {"-arch=sm_90"};
    void *link = NULL;
    linker.create(&link, 1, options);
    const bool refused = linker.add(link, INPUT_PTX, mistake, sizeof mistake, "mistake") != 0 ||
                         linker.complete(link) != 0;
    printf("a mistake: %s\n", refused ? "refused" : "taken");
    linker.destroy(&link);
    linker.create(&link, 1, options);
    linker.add(link, INPUT_PTX, caller, sizeof caller, "caller");
    printf("a function is missing: %s\n", linker.complete(link) != 0 ? "refused" : "taken");
    linker.destroy(&link);
}

int main(int count, char **arguments)
{
    if (count > 2 && strcmp(arguments[1], "nvrtc") == 0) ask_compiler(arguments[2]);
    if (count > 2 && strcmp(arguments[1], "beyond") == 0) compile_a_mistake(arguments[2]);
    if (count > 2 && strcmp(arguments[1], "link") == 0) ask_linker(arguments[2]);
    if (count > 3 && strcmp(arguments[1], "optimise") == 0)
        ask_to_optimise(arguments[2], arguments[3]);
    if (count > 2 && strcmp(arguments[1], "refuse") == 0) ask_in_vain(arguments[2]);
    return 0;
}
