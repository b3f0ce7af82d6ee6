/* Arrays, texture and surface objects: creation, errors, and mistakes of kernels.
 * tests/programs/arrays.cu checks the values that they read. */
#include "tests/driver/support.h"

#include <string.h>

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"

/* Each reads or writes one 32-bit texel at (x, 0), and stores its result. */
static const char kernels[] =
    HEAD ".visible .entry fetch(.param .u64 t, .param .u64 out, .param .u32 x) {\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [x];\n"
         "cvta.to.global.u64 %rd2, %rd2;\n"
         "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];\n"
         "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5}; ret; }\n"
         ".visible .entry size(.param .u64 t, .param .u64 out, .param .u32 x) {\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;\n"
         "txq.width.b32 %r2, [%rd1]; txq.height.b32 %r3, [%rd1];\n"
         "txq.normalized_coords.b32 %r4, [%rd1]; mov.u32 %r5, 0;\n"
         "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5}; ret; }\n"
         ".visible .entry read(.param .u64 t, .param .u64 out, .param .u32 x) {\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [x];\n"
         "cvta.to.global.u64 %rd2, %rd2; mov.u32 %r2, 0;\n"
         "suld.b.2d.b32.trap {%r3}, [%rd1, {%r1, %r2}]; st.global.u32 [%rd2], %r3; ret; }\n"
         ".visible .entry cube(.param .u64 t, .param .u64 out, .param .u32 x) {\n"
         ".reg .f32 %f<8>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [t]; mov.f32 %f1, 0f00000000;\n"
         "tex.cube.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f1, %f1, %f1}]; ret; }\n"
         ".visible .entry slope(.param .u64 t, .param .u64 out, .param .u32 x) {\n"
         ".reg .f32 %f<8>; .reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [t]; mov.f32 %f1, 0f00000000;\n"
         "tex.grad.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f1}], {%f1, %f1},\n"
         "    {%f1, %f1}; ret; }\n";

static void launch(const char *name, uint64_t object, CUdeviceptr out, int x)
{
    static CUmodule module;
    CUfunction kernel;
    if (module == NULL) OK(cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&kernel, module, name));
    void *parameters[] = {&object, &out, &x};
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
}

static CUresult run(const char *name, uint64_t object, CUdeviceptr out, int x)
{
    launch(name, object, out, x);
    return cuCtxSynchronize();
}

static CUarray make_array(size_t width, size_t height, unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = width,
                                                .Height = height,
                                                .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                .NumChannels = 1,
                                                .Flags = flags};
    CUarray array;
    OK(cuArray3DCreate(&array, &descriptor));
    return array;
}

static CUtexObject make_texture(CUarray array, unsigned flags)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_READ_AS_INTEGER | flags};
    CUtexObject texture;
    resource.res.array.hArray = array;
    for (int d = 0; d < 3; d++) sampling.addressMode[d] = CU_TR_ADDRESS_MODE_CLAMP;
    OK(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    return texture;
}

START_TEST(an_array_is_described_as_it_was_made)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 8,
                                 .Height = 4,
                                 .Depth = 3,
                                 .Format = CU_AD_FORMAT_HALF,
                                 .NumChannels = 2,
                                 .Flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST},
                            found;
    CUDA_ARRAY_DESCRIPTOR flat;
    CUarray array;
    size_t before, after, total;
    test_context(LATEST);
    OK(cuMemGetInfo(&before, &total));
    OK(cuArray3DCreate(&array, &d));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before - after, 8 * 4 * 3 * 4);
    OK(cuArray3DGetDescriptor(&found, array));
    ck_assert_mem_eq(&found, &d, sizeof d);
    OK(cuArrayGetDescriptor(&flat, array));
    ck_assert_uint_eq(flat.Height, 4);
    ck_assert_uint_eq(test_count(TRACE_CREATE, TRACE_DEVICE_MEMORY, NULL), 1);
    OK(cuArrayDestroy(array));
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL), 1);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&found, array));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
}
END_TEST

START_TEST(arrays_that_cannot_be_are_refused)
{
    static const struct {
        CUDA_ARRAY3D_DESCRIPTOR d;
        CUresult code;
    } cases[] = {
        {{0, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{4, 0, 4, CU_AD_FORMAT_FLOAT, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 0, (CUarray_format)0x7777, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 0, CU_AD_FORMAT_NV12, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0}, CUDA_ERROR_NOT_SUPPORTED},
        {{4, 4, 0, CU_AD_FORMAT_BC1_UNORM, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{131073, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 32769, CU_AD_FORMAT_FLOAT, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{8193, 4, 16385, CU_AD_FORMAT_FLOAT, 1, 0}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}, CUDA_ERROR_INVALID_VALUE},
        {{4, 2, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}, CUDA_ERROR_INVALID_VALUE},
        {{4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE}, CUDA_ERROR_NOT_SUPPORTED},
        {{4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0x8000}, CUDA_ERROR_INVALID_VALUE},
    };
    CUarray array;
    test_context(LATEST);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        FAILS(cases[i].code, cuArray3DCreate(&array, &cases[i].d));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(NULL, &cases[0].d));
}
END_TEST

START_TEST(bytes_go_in_and_out)
{
    unsigned in[40], out[40] = {0};
    test_context(_i);
    CUarray a = make_array(10, 4, 0), b = make_array(40, 0, 0);
    CUdeviceptr p = test_device(sizeof in);
    for (unsigned i = 0; i < 40; i++) in[i] = i * 7 + 1;
    OK(cuMemcpyHtoA(b, 0, in, sizeof in));
    OK(cuMemcpyAtoD(p, b, 20, 120));
    OK(cuMemcpyAtoA(a, 40, b, 80, 40));
    OK(cuMemcpyDtoA(a, 80, p, 80));
    OK(cuMemcpyHtoAAsync(a, 0, in, 40, NULL));
    OK(cuMemcpyAtoHAsync(out, a, 0, sizeof out, NULL));
    OK(cuStreamSynchronize(NULL));
    for (unsigned i = 0; i < 40; i++)
        ck_assert_uint_eq(out[i], i < 10 ? in[i] : i < 20 ? in[i + 10] : in[i - 15]);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(b, 4, in, sizeof in));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoA((CUarray)(uintptr_t)p, 0, in, 4));
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = in,
                                .srcPitch = 20,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = a,
                                .dstXInBytes = 24,
                                .WidthInBytes = 20,
                                .Height = 4};
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&rows)); /* past the end of a row */
    ck_assert_ptr_nonnull(test_find(TRACE_FINDING, 0, "out of bounds"));
    const struct trace_record *copy = test_find(TRACE_OPERATION, TRACE_COPY, NULL);
    ck_assert_uint_eq(copy->to, TRACE_ARRAY);
}
END_TEST

START_TEST(a_texture_reads_what_is_there)
{
    unsigned in[16], out[4];
    test_context(_i);
    CUarray array = make_array(16, 0, 0);
    CUtexObject texture = make_texture(array, CU_TRSF_NORMALIZED_COORDINATES);
    CUdeviceptr p = test_device(16);
    for (unsigned i = 0; i < 16; i++) in[i] = i * i + 3;
    OK(cuMemcpyHtoA(array, 0, in, sizeof in));
    OK(run("fetch", texture, p, 5));
    OK(cuMemcpyDtoH(out, p, sizeof out));
    ck_assert_uint_eq(out[0], 28);
    ck_assert_uint_eq(out[1], 0);
    ck_assert_uint_eq(out[3], 0);
    OK(run("size", texture, p, 0));
    OK(cuMemcpyDtoH(out, p, sizeof out));
    ck_assert_uint_eq(out[0], 16);
    ck_assert_uint_eq(out[2], 1);
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    OK(cuTexObjectGetResourceDesc(&resource, texture));
    ck_assert_ptr_eq(resource.res.array.hArray, array);
    OK(cuTexObjectGetTextureDesc(&sampling, texture));
    ck_assert_uint_eq(sampling.flags, CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES);
    OK(cuTexObjectDestroy(texture));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(&sampling, texture));
}
END_TEST

/* tests/gpu/texture_ends.cu asks a GPU. */
START_TEST(what_was_launched_finds_what_ends_behind_it)
{
    unsigned in[16], out[4];
    test_context(_i);
    CUarray array = make_array(16, 0, 0);
    CUtexObject texture = make_texture(array, 0);
    CUdeviceptr p = test_device(16);
    for (unsigned i = 0; i < 16; i++) in[i] = i * i + 3;
    OK(cuMemcpyHtoA(array, 0, in, sizeof in));
    launch("fetch", texture, p, 5);
    OK(cuTexObjectDestroy(texture));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
    OK(cuMemcpyDtoH(out, p, sizeof out));
    ck_assert_uint_eq(out[0], 28);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
    texture = make_texture(array, 0);
    launch("fetch", texture, p, 5);
    OK(cuTexObjectDestroy(texture));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run("fetch", texture, p, 5));
}
END_TEST

/* Mistakes of kernels, each reported in a finding: the kernel, x, and a word of the sentence. */
static const struct {
    const char *kernel;
    bool destroyed, freed, surface;
    int x;
    CUresult code;
    const char *word;
} mistakes[] = {
    {"fetch", true, false, false, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "no texture or surface object"},
    {"fetch", false, true, false, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "has been freed"},
    {"fetch", false, false, true, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "a surface object"},
    {"read", false, false, true, 64, CUDA_ERROR_ILLEGAL_ADDRESS, "at byte 64"},
    {"read", false, false, true, -4, CUDA_ERROR_ILLEGAL_ADDRESS, "at byte -4"},
    {"read", false, false, true, 2, CUDA_ERROR_MISALIGNED_ADDRESS, "at byte 2"},
    {"cube", false, false, false, 0, CUDA_ERROR_NOT_SUPPORTED, "must agree"},
};

START_TEST(a_kernels_mistake_is_named)
{
    test_context(LATEST);
    const bool surface = mistakes[_i].surface;
    CUarray array = make_array(16, surface ? 2 : 0, CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    resource.res.array.hArray = array;
    CUsurfObject object;
    CUdeviceptr p = test_device(16);
    if (surface)
        OK(cuSurfObjectCreate(&object, &resource));
    else
        object = make_texture(array, 0);
    if (mistakes[_i].destroyed) OK(cuTexObjectDestroy(object));
    if (mistakes[_i].freed) OK(cuArrayDestroy(array));
    FAILS(mistakes[_i].code, run(mistakes[_i].kernel, object, p, mistakes[_i].x));
    const struct trace_record *finding = test_find(TRACE_FINDING, 0, NULL);
    ck_assert_ptr_nonnull(finding);
    ck_assert_msg(strstr(test_sentence(finding), mistakes[_i].word) != NULL, "%s",
                  test_sentence(finding));
}
END_TEST

/* The values of levels and cubes are compared with an H200's by tests/gpu/mipmap.cu and
 * tests/gpu/cube.cu. */
START_TEST(levels_come_and_go_with_their_array)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_ARRAY3D_DESCRIPTOR level;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    const CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_NORMALIZED_COORDINATES};
    CUmipmappedArray whole;
    CUarray first, last;
    CUtexObject object;
    test_context(LATEST);
    OK(cuMipmappedArrayCreate(&whole, &d, 9));
    OK(cuMipmappedArrayGetLevel(&first, whole, 0));
    OK(cuMipmappedArrayGetLevel(&last, whole, 3));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&last, whole, 4));
    OK(cuArray3DGetDescriptor(&level, last));
    ck_assert_uint_eq(level.Width, 1);
    ck_assert_uint_eq(level.Height, 1);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy((CUarray)whole));
    OK(cuArrayDestroy(first));
    OK(cuArray3DGetDescriptor(&level, first));
    resource.res.mipmap.hMipmappedArray = whole;
    OK(cuTexObjectCreate(&object, &resource, &sampling, NULL));
    OK(cuTexObjectDestroy(object));
    OK(cuMipmappedArrayDestroy(whole));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(whole));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&level, first));
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL), 4);
    OK(cuMipmappedArrayCreate(&whole, &d, 2)); /* and with their context */
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuTexObjectCreate(&object, &resource, &sampling, NULL));
    OK(cuCtxDestroy(test_context_handle));
}
END_TEST

START_TEST(gradients_of_levels_are_refused)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    const CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_NORMALIZED_COORDINATES};
    CUtexObject object;
    test_context(LATEST);
    OK(cuMipmappedArrayCreate(&resource.res.mipmap.hMipmappedArray, &d, 4));
    OK(cuTexObjectCreate(&object, &resource, &sampling, NULL));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, run("slope", object, test_device(16), 0));
    const struct trace_record *finding = test_find(TRACE_FINDING, 0, NULL);
    ck_assert_ptr_nonnull(strstr(test_sentence(finding), "gradients"));
}
END_TEST

/* The parameters of the only copy that was captured in the stream. */
static CUDA_MEMCPY3D captured_in(CUstream stream, CUgraph *graph, CUgraphNode *node)
{
    CUDA_MEMCPY3D params;
    size_t count = 1;
    OK(cuStreamEndCapture(stream, graph));
    OK(cuGraphGetNodes(*graph, node, &count));
    ck_assert_uint_eq(count, 1);
    OK(cuGraphMemcpyNodeGetParams(*node, &params));
    return params;
}

START_TEST(a_captured_copy_says_which_part_of_which_array)
{
    CUgraph graph, by_hand;
    CUgraphNode node;
    CUgraphExec executable;
    test_context(_i);
    CUarray array = make_array(8, 4, 0);
    CUstream stream = test_stream(0);
    uint32_t *host = test_pinned(128), *back = test_pinned(128);
    for (uint32_t i = 0; i < 32; i++) host[i] = i;

    /* All of it, in rows, is what a node made by hand is given. */
    const CUDA_MEMCPY3D whole = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                 .srcHost = host,
                                 .srcPitch = 32,
                                 .srcHeight = 4,
                                 .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                 .dstArray = array,
                                 .WidthInBytes = 32,
                                 .Height = 4,
                                 .Depth = 1};
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpy3DAsync(&whole, stream));
    CUDA_MEMCPY3D found = captured_in(stream, &graph, &node);
    ck_assert_int_eq(memcmp(&found, &whole, sizeof whole), 0);
    OK(cuGraphMemcpyNodeSetParams(node, &found));
    OK(cuGraphInstantiate(&executable, graph, 0));
    OK(cuGraphCreate(&by_hand, 0));
    OK(cuGraphAddMemcpyNode(&node, by_hand, NULL, 0, &whole, test_context_handle));
    OK(cuGraphExecUpdate(executable, by_hand, &(CUgraphExecUpdateResultInfo){0}));
    OK(cuGraphLaunch(executable, stream));

    /* A box out of the middle. */
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpy2DAsync(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                        .srcArray = array,
                                        .srcXInBytes = 8,
                                        .srcY = 1,
                                        .dstMemoryType = CU_MEMORYTYPE_HOST,
                                        .dstHost = back,
                                        .dstPitch = 16,
                                        .WidthInBytes = 16,
                                        .Height = 2},
                       stream));
    found = captured_in(stream, &graph, &node);
    ck_assert_int_eq(found.srcMemoryType, CU_MEMORYTYPE_ARRAY);
    ck_assert_ptr_eq(found.srcArray, array);
    ck_assert(found.srcXInBytes == 8 && found.srcY == 1 && found.srcZ == 0);
    ck_assert(found.dstHost == back && found.dstPitch == 16);
    ck_assert(found.WidthInBytes == 16 && found.Height == 2 && found.Depth == 1);
    OK(cuGraphInstantiate(&executable, graph, 0));
    OK(cuGraphLaunch(executable, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert(back[0] == 10 && back[3] == 13 && back[4] == 18 && back[7] == 21);

    /* Bytes, given by their offset. */
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyAtoHAsync(back, array, 72, 8, stream));
    found = captured_in(stream, &graph, &node);
    ck_assert_int_eq(found.srcMemoryType, CU_MEMORYTYPE_ARRAY);
    ck_assert(found.srcXInBytes == 8 && found.srcY == 2 && found.WidthInBytes == 8);
}
END_TEST

START_TEST(objects_that_cannot_be_are_refused)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject object;
    test_context(LATEST);
    CUarray array = make_array(16, 0, 0);
    resource.res.array.hArray = array;
    OK(cuSurfObjectCreate(&object, &resource)); /* no such flag */
    ck_assert_ptr_nonnull(test_find(TRACE_FINDING, 0, "invalid surface"));
    OK(cuSurfObjectDestroy(object));
    OK(cuSurfObjectDestroy(0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, NULL, NULL));
    sampling.flags = 0;
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY; /* but the array has no levels */
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuTexObjectCreate(&object, &resource, &sampling, NULL));
    CUdeviceptr p = test_device(4096);
    resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR};
    resource.res.linear.devPtr = p;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 4;
    resource.res.linear.sizeInBytes = 4096;
    OK(cuTexObjectCreate(&object, &resource, &sampling, NULL));
    resource.res.linear.sizeInBytes = 4097 + 16;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &sampling, NULL));
    resource.res.linear.sizeInBytes = 1024;
    resource.res.linear.devPtr = p + 16;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &sampling, NULL));
    ck_assert_ptr_nonnull(test_find(TRACE_FINDING, 0, "invalid texture"));
}
END_TEST

START_TEST(arrays_end_with_their_context)
{
    CUcontext other;
    CUDA_ARRAY3D_DESCRIPTOR found;
    test_context(LATEST);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUarray array = make_array(16, 16, 0);
    make_texture(array, 0);
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(test_context_handle));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&found, array));
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_array");
    TCase *tcase = tcase_create("array");
    tcase_add_test(tcase, an_array_is_described_as_it_was_made);
    tcase_add_test(tcase, arrays_that_cannot_be_are_refused);
    tcase_add_loop_test(tcase, bytes_go_in_and_out, 0, ORDERS);
    tcase_add_loop_test(tcase, a_texture_reads_what_is_there, 0, ORDERS);
    tcase_add_loop_test(tcase, what_was_launched_finds_what_ends_behind_it, 0, ORDERS);
    tcase_add_loop_test(tcase, a_kernels_mistake_is_named, 0,
                        (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_loop_test(tcase, a_captured_copy_says_which_part_of_which_array, 0, ORDERS);
    tcase_add_test(tcase, objects_that_cannot_be_are_refused);
    tcase_add_test(tcase, levels_come_and_go_with_their_array);
    tcase_add_test(tcase, gradients_of_levels_are_refused);
    tcase_add_test(tcase, arrays_end_with_their_context);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
