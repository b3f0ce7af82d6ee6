/* Modules through the driver API: loading, bad images, functions, variables, launches, unloading.
 */
#include "tests/differential_api/program.h"

#include <string.h>

static const char good[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .const .align 4 .b8 table[40];\n"
    ".visible .entry add(.param .u64 to, .param .u32 value) {\n"
    " .reg .b64 %rd<4>; .reg .b32 %r<6>;\n"
    " ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [value]; cvta.to.global.u64 %rd2, %rd1;\n"
    " mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd2, %rd2, %rd3;\n"
    " ld.global.u32 %r3, [counter]; ld.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, %r1;\n"
    " add.u32 %r4, %r4, %r3; st.global.u32 [%rd2], %r4; ret; }\n"
    ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
    ".visible .entry nothing() { ret; }\n";

static const struct {
    const char *name, *text;
} images[] = {
    {"good", good},
    {"empty", ""},
    {"text", "hello"},
    {"no target", ".version 7.5\n.address_size 64\n.visible .entry k() { ret; }\n"},
    {"unknown instruction", ".version 7.5\n.target sm_75\n.address_size 64\n"
                            ".visible .entry k() { frobnicate.u32 1; }\n"},
    {"undeclared register", ".version 7.5\n.target sm_75\n.address_size 64\n"
                            ".visible .entry k() { mov.u32 %r1, 1; }\n"},
    {"too new a version", ".version 99.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry k() { ret; }\n"},
    {"too new a target", ".version 9.0\n.target sm_999\n.address_size 64\n"
                         ".visible .entry k() { ret; }\n"},
    {"unresolved function", ".version 7.5\n.target sm_75\n.address_size 64\n"
                            ".extern .func away();\n"
                            ".visible .entry k() { call.uni away; ret; }\n"},
    {"no kernel", ".version 7.5\n.target sm_75\n.address_size 64\n"},
};

struct modules {
    CUmodule module[2];
    CUdeviceptr data;
};

static void load(struct program *p, void *self)
{
    struct modules *t = self;
    unsigned i = chance(p, 50) ? 0 : draw(p, sizeof images / sizeof *images), m = draw(p, 2);
    CUmodule module = NULL;
    if (t->module[m] != NULL && i == 0) return;
    if (chance(p, 70))
        dr(p, cuModuleLoadData(&module, images[i].text), "cuModuleLoadData(&m%u, %s)", m,
           images[i].name);
    else
        dr(p, cuModuleLoadDataEx(&module, images[i].text, 0, NULL, NULL),
           "cuModuleLoadDataEx(&m%u, %s)", m, images[i].name);
    if (i == 0)
        t->module[m] = module;
    else if (module != NULL)
        cuModuleUnload(module);
}

static void unload(struct program *p, void *self)
{
    struct modules *t = self;
    unsigned m = draw(p, 2);
    if (t->module[m] == NULL) return;
    cuCtxSynchronize();
    dr(p, cuModuleUnload(t->module[m]), "cuModuleUnload(m%u)", m);
    t->module[m] = NULL;
}

static void functions(struct program *p, void *self)
{
    struct modules *t = self;
    unsigned m = draw(p, 2), count = 77;
    const char *name = PICK(p, const char *, "add", "nothing", "bounded", "missing", "", "counter");
    CUfunction function = NULL;
    int which = PICK(p, int, 0, 1, 2, 3, 8, 9, 99), value = 77;
    size_t offset = 77, size = 77, index = draw(p, 4);
    if (t->module[m] == NULL) return;
    if (dr(p, cuModuleGetFunction(&function, t->module[m], name),
           "cuModuleGetFunction(m%u, \"%s\")", m, name) != CUDA_SUCCESS)
        return;
    switch (draw(p, 4)) {
    case 0:
        dr(p, cuFuncGetAttribute(&value, (CUfunction_attribute)which, function),
           "cuFuncGetAttribute(%d, %s)", which, name);
        note(p, "%d", value);
        break;
    case 1:
        dr(p, cuFuncGetParamInfo(function, index, &offset, &size), "cuFuncGetParamInfo(%s, %zu)",
           name, index);
        note(p, "%zu %zu", offset, size);
        break;
    case 2:
        dr(p, cuModuleGetFunctionCount(&count, t->module[m]), "cuModuleGetFunctionCount(m%u)", m);
        note(p, "%u", count);
        break;
    default:
        name = NULL;
        dr(p, cuFuncGetName(&name, function), "cuFuncGetName()");
        note(p, "%s", name != NULL ? name : "none");
        break;
    }
}

static void globals(struct program *p, void *self)
{
    struct modules *t = self;
    unsigned m = draw(p, 2);
    const char *name = PICK(p, const char *, "counter", "table", "missing", "add", "");
    CUdeviceptr address = 0;
    size_t size = 77;
    unsigned value = draw(p, 100);
    if (t->module[m] == NULL) return;
    if (chance(p, 80))
        dr(p, cuModuleGetGlobal(&address, &size, t->module[m], name),
           "cuModuleGetGlobal(&, &, m%u, \"%s\")", m, name);
    else
        dr(p, cuModuleGetGlobal(&address, NULL, t->module[m], name),
           "cuModuleGetGlobal(&, NULL, m%u, \"%s\")", m, name);
    note(p, "size %zu null %d", size, address == 0);
    if (address == 0 || strcmp(name, "counter") != 0) return;
    unsigned before = 0;
    dr(p, cuMemcpyDtoH(&before, address, 4), "cuMemcpyDtoH(counter)");
    note(p, "%u", before);
    dr(p, cuMemcpyHtoD(address, &value, 4), "cuMemcpyHtoD(counter, %u)", value);
}

static void launch(struct program *p, void *self)
{
    struct modules *t = self;
    unsigned m = draw(p, 2);
    CUfunction function = NULL;
    unsigned value = draw(p, 1000), words[64];
    unsigned gx = PICK(p, unsigned, 1, 1, 1, 0), bx = PICK(p, unsigned, 1, 32, 64, 64, 0, 2000),
             shared = PICK(p, unsigned, 0, 0, 49152, 49153);
    bool bounded = chance(p, 20);
    if (t->module[m] == NULL) return;
    cuModuleGetFunction(&function, t->module[m], bounded ? "bounded" : "add");
    void *arguments[] = {&t->data, &value};
    struct {
        CUdeviceptr to;
        unsigned value;
    } packed = {t->data, value};
    size_t packed_size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &packed_size, CU_LAUNCH_PARAM_END};
    switch (draw(p, 5)) {
    case 0:
        dr(p, cuLaunchKernel(function, gx, 1, 1, bx, 1, 1, shared, NULL, NULL, extra),
           "cuLaunchKernel(m%u, %d, %u, %u, %u, extra)", m, bounded, gx, bx, shared);
        break;
    case 1:
        if (bounded) return;
        dr(p, cuLaunchKernel(function, gx, 1, 1, bx, 1, 1, shared, NULL, NULL, NULL),
           "cuLaunchKernel(m%u, %u, %u, %u, no arguments)", m, gx, bx, shared);
        break;
    case 2:
        dr(p, cuLaunchKernel(function, gx, 1, 1, bx, 1, 1, shared, NULL, arguments, extra),
           "cuLaunchKernel(m%u, %d, %u, %u, %u, both)", m, bounded, gx, bx, shared);
        break;
    default:
        dr(p, cuLaunchKernel(function, gx, 1, 1, bx, 1, 1, shared, NULL, arguments, NULL),
           "cuLaunchKernel(m%u, %d, %u, %u, %u)", m, bounded, gx, bx, shared);
        break;
    }
    dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
    cuMemcpyDtoH(words, t->data, sizeof words);
    note(p, "%u %u %08x", words[0], words[63], digest(words, sizeof words));
}

static void occupancy(struct program *p, void *self)
{
    struct modules *t = self;
    unsigned m = draw(p, 2);
    const char *name = PICK(p, const char *, "add", "nothing", "bounded");
    CUfunction function = NULL;
    int blocks = 77, threads = PICK(p, int, 0, 32, 64, 128, 1024, 1025);
    size_t shared = PICK(p, size_t, 0, 1024, 49152);
    if (t->module[m] == NULL) return;
    cuModuleGetFunction(&function, t->module[m], name);
    dr(p, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared),
       "cuOccupancyMaxActiveBlocksPerMultiprocessor(%s, %d, %zu)", name, threads, shared);
    note(p, "%d", blocks);
}

static void libraries(struct program *p, void *self)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    unsigned count = 77;
    const char *name = PICK(p, const char *, "add", "missing");
    (void)self;
    dr(p, cuLibraryLoadData(&library, good, NULL, NULL, 0, NULL, NULL, 0),
       "cuLibraryLoadData(good)");
    dr(p, cuLibraryGetKernelCount(&count, library), "cuLibraryGetKernelCount()");
    note(p, "%u", count);
    dr(p, cuLibraryGetKernel(&kernel, library, name), "cuLibraryGetKernel(\"%s\")", name);
    dr(p, cuLibraryUnload(library), "cuLibraryUnload()");
}

static void wrong(struct program *p, void *self)
{
    struct modules *t = self;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr address = 0;
    unsigned m = draw(p, 2);
    switch (draw(p, 6)) {
    case 0:
        dr(p, cuModuleLoad(&module, "/nowhere/at/all"), "cuModuleLoad(/nowhere)");
        break;
    case 1:
        dr(p, cuModuleLoadData(NULL, good), "cuModuleLoadData(NULL, good)");
        break;
    case 2:
        dr(p, cuModuleLoadData(&module, NULL), "cuModuleLoadData(&, NULL)");
        break;
    case 3:
        if (t->module[m] == NULL) return;
        dr(p, cuModuleGetFunction(NULL, t->module[m], "add"), "cuModuleGetFunction(NULL, m%u)", m);
        break;
    case 4:
        if (t->module[m] == NULL) return;
        dr(p, cuModuleGetFunction(&function, t->module[m], NULL),
           "cuModuleGetFunction(&, m%u, NULL)", m);
        break;
    default:
        if (t->module[m] == NULL) return;
        dr(p, cuModuleGetGlobal(&address, NULL, t->module[m], NULL),
           "cuModuleGetGlobal(&, NULL, m%u, NULL)", m);
        break;
    }
}

static const struct action actions[] = {
    {"load", 16, load},          {"unload", 4, unload},  {"functions", 12, functions},
    {"globals", 12, globals},    {"launch", 16, launch}, {"occupancy", 5, occupancy},
    {"libraries", 2, libraries}, {"wrong", 6, wrong},
};

void family_modules(struct program *p)
{
    struct modules t = {0};
    cudaFree(NULL);
    cuMemAlloc(&t.data, 256 * 4);
    cuMemsetD32(t.data, 0, 256);
    dr(p, cuModuleLoadData(&t.module[0], good), "cuModuleLoadData(&m0, good)");
    for (unsigned left = 12 + draw(p, 16); left > 0; left--) ACT(p, actions, &t);
    dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
    for (int m = 0; m < 2; m++)
        if (t.module[m] != NULL) cuModuleUnload(t.module[m]);
    cuMemFree(t.data);
    cudaDeviceSynchronize();
    cudaGetLastError();
}
