/* Less common calls: extended launches, batches of memory operations, peers, pools, advice,
 * attributes; and NULL as the address of a result, for every function. */
#include "tests/driver/support.h"
#include "tests/temporary.h"

#include <cudaProfiler.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 256, BYTES = N * 4 };

static unsigned first_word(CUdeviceptr p)
{
    unsigned value;
    OK(cuMemcpyDtoH(&value, p, 4));
    return value;
}

/* Sets the parameters of "set" to write `value` to the 128 words at `p`, as programs did before
 * CUDA 4. */
static void tell_set(CUfunction set, CUdeviceptr p, unsigned value)
{
    OK(cuFuncSetBlockShape(set, 128, 1, 1));
    OK(cuFuncSetSharedSize(set, 0));
    OK(cuParamSetv(set, 0, &p, sizeof p));
    OK(cuParamSeti(set, 8, value));
    OK(cuParamSeti(set, 12, N));
    OK(cuParamSetSize(set, 16));
}

START_TEST(a_launch_of_before_cuda_4_is_as_its_function_was_told)
{
    unsigned words[N];
    float one;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    CUfunction set = test_kernel("set");
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD32(p, 0, N));
    tell_set(set, p, 5);
    OK(cuLaunch(set));
    OK(cuMemcpyDtoH(words, p, BYTES));
    ck_assert_uint_eq(words[127], 5);
    ck_assert_uint_eq(words[128], 0); /* one block */
    OK(cuParamSeti(set, 8, 6));       /* other parameters are unchanged */
    OK(cuLaunchGrid(set, 2, 1));
    OK(cuMemcpyDtoH(words, p, BYTES));
    ck_assert_uint_eq(words[255], 6);
    OK(cuParamSetf(set, 8, 1.0f));
    OK(cuLaunchGridAsync(set, 1, 2, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(&one, p, 4));
    ck_assert(one == 1.0f);
}
END_TEST

START_TEST(a_launch_of_before_cuda_4_is_refused_where_it_is_told_too_little)
{
    unsigned value = 7;
    int n = N;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    void *parameters[] = {&p, &value, &n};
    CUfunction set = test_kernel("set");
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunch(set)); /* no block */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(set, 0, 1, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSetv(set, 0, NULL, 8));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSeti(set, -4, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSeti(set, 32764, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSetSize(set, 32765));
    OK(cuFuncSetBlockShape(set, 32, 1, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunch(set)); /* no parameters */
    tell_set(set, p, 8);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(set, 0, 1));
    OK(cuParamSetSize(set, 20));
    /* More threads than the kernel allows. */
    FAILS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, cuLaunch(set));
    /* A modern launch clears the parameters that were set. */
    OK(cuParamSetSize(set, 16));
    OK(cuLaunch(set));
    OK(cuLaunchKernel(set, 2, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunch(set));
    ck_assert_uint_eq(first_word(p), 7);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncSetSharedSize(NULL, 4));
}
END_TEST

START_TEST(an_extended_launch_takes_attributes)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    unsigned value = 6;
    int n = N;
    void *parameters[] = {&p, &value, &n};
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 0},
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}},
    };
    CUlaunchConfig config = {.gridDimX = 2,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = attributes,
                             .numAttrs = 3};
    OK(cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL));
    ck_assert_uint_eq(first_word(p), 6);
    attributes[2].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL)); /* no event */
    attributes[2].id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    FAILS(CUDA_ERROR_NOT_SUPPORTED,
          cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "not supported"), 1);
    ck_assert_ptr_nonnull(
        strstr(test_sentence(test_find(TRACE_FINDING, 0, "not supported")),
               "launch attribute CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE"));
    attributes[2].id = (CUlaunchAttributeID)99; /* CUDA has none, and a GPU says so */
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "not supported"), 1);
    attributes[2].id = CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING; /* a hint */
    OK(cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL));
    config.attrs = NULL;
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(NULL, test_kernel("set"), parameters, NULL));
    OK(cuLaunchCooperativeKernel(test_kernel("add"), 2, 1, 1, 128, 1, 1, 0, NULL, parameters));
    ck_assert_uint_eq(first_word(p), 12);
}
END_TEST

#define SM_90 ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Loads the text, launches its kernel `k` over two blocks and waits. */
static CUresult run_alone(const char *ptx)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "k"));
    CUresult code = cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    return code != CUDA_SUCCESS ? code : cuCtxSynchronize();
}

#define CLUSTERS(header, body)                                                                     \
    SM_90 ".visible .entry k(.param .u64 p) " header "{ .reg .b32 r, i;"                           \
          ".reg .b64 d, e; ld.param.u64 d, [p]; mov.u32 i, %ctaid.x; mul.wide.u32 e, i, 4;"        \
          "add.u64 d, d, e;" body " ret; }"

/* Loads the text, and launches its kernel `k` over `blocks` blocks in clusters; 0: no cluster
 * attribute. */
static inline __attribute__((always_inline)) CUresult run_clusters(const char *ptx, unsigned blocks,
                                                                   unsigned cluster, CUdeviceptr p)
{
    CUmodule module;
    CUfunction function;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {cluster, 1, 1}};
    const CUlaunchConfig config = {.gridDimX = blocks,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 32,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .attrs = &attribute,
                                   .numAttrs = cluster > 0};
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "k"));
    const CUresult code = cuLaunchKernelEx(&config, function, (void *[]){&p}, NULL);
    return code != CUDA_SUCCESS ? code : cuCtxSynchronize();
}

static void check_words(CUdeviceptr p, unsigned first, unsigned second)
{
    unsigned words[2];
    OK(cuMemcpyDtoH(words, p, sizeof words));
    ck_assert_uint_eq(words[0], first);
    ck_assert_uint_eq(words[1], second);
}

/* Each block stores its rank and the size of its cluster. */
#define STORE                                                                                      \
    "mov.u32 r, %cluster_nctarank; mov.u32 i, %cluster_ctarank; mad.lo.u32 r, r, 10, i;"           \
    "st.global.u32 [d], r;"

START_TEST(a_launch_has_the_clusters_it_asks_for)
{
    test_context(_i);
    const CUdeviceptr p = test_device(BYTES);
    OK(run_clusters(CLUSTERS("", STORE), 4, 0, p));
    check_words(p, 10, 10);
    OK(run_clusters(CLUSTERS("", STORE), 4, 2, p));
    check_words(p, 20, 21);
    OK(run_clusters(CLUSTERS(".explicitcluster .reqnctapercluster 4 ", STORE), 4, 0, p));
    check_words(p, 40, 41);
    OK(run_clusters(CLUSTERS(".explicitcluster ", STORE), 4, 2, p));
    check_words(p, 20, 21);
    OK(run_clusters(CLUSTERS(".blocksareclusters .reqntid 32 .reqnctapercluster 2 ",
                             "mov.u32 r, %nctaid.x; st.global.u32 [d], r;"),
                    3, 0, p));
    check_words(p, 6, 6);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

static const struct trace_record *last_finding(void)
{
    const struct trace *trace = test_trace();
    const struct trace_record *last = NULL;
    for (size_t k = 0; k < trace->count; k++)
        if (trace->records[k].kind == TRACE_FINDING) last = &trace->records[k];
    return last;
}

/* Each is another call: repeated findings of one call would only be counted. */
#define REFUSED_CLUSTERS(header, blocks, cluster, says)                                            \
    do {                                                                                           \
        FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE,                                                     \
              run_clusters(SM_90 ".visible .entry k(.param .u64 p) " header "{ ret; }", blocks,    \
                           cluster, p));                                                           \
        ck_assert_ptr_nonnull(strstr(test_sentence(last_finding()), says));                        \
    } while (0)

START_TEST(clusters_that_do_not_fit_are_refused)
{
    test_context(_i);
    const CUdeviceptr p = test_device(BYTES);
    REFUSED_CLUSTERS("", 5, 2, "no multiple of its clusters' 2");
    REFUSED_CLUSTERS("", 9, 9, "its clusters are to have 9 blocks; 8 are possible, and 16");
    REFUSED_CLUSTERS(".explicitcluster .reqnctapercluster 4 ", 4, 2,
                     "compiled for clusters with 4 blocks in x");
    REFUSED_CLUSTERS(".explicitcluster ", 4, 0, "nothing says how large they are");
}
END_TEST

START_TEST(functions_say_what_clusters_they_allow)
{
    CUmodule module;
    CUfunction free_size, made;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {16, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 16,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1024,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    int value;
    test_context(_i);
    OK(cuModuleLoadData(&module, SM_90 ".visible .entry k() { ret; }\n.visible .entry m() "
                                       ".explicitcluster .reqnctapercluster 2, 3 { ret; }"));
    OK(cuModuleGetFunction(&free_size, module, "k"));
    OK(cuModuleGetFunction(&made, module, "m"));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, made));
    ck_assert_int_eq(value, 3);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, free_size));
    ck_assert_int_eq(value, 0);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuFuncSetAttribute(made, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
    FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
          cuOccupancyMaxPotentialClusterSize(&value, free_size, &config));
    config.numAttrs = 0;
    OK(cuOccupancyMaxPotentialClusterSize(&value, free_size, &config));
    ck_assert_int_eq(value, 8);
    config.numAttrs = 1;
    FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
          cuOccupancyMaxActiveClusters(&value, free_size, &config));
    FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, free_size, NULL, NULL));
    OK(cuFuncSetAttribute(free_size, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuOccupancyMaxPotentialClusterSize(&value, free_size, &config));
    ck_assert_int_eq(value, 16);
    OK(cuOccupancyMaxActiveClusters(&value, free_size, &config));
    ck_assert_int_gt(value, 0);
    OK(cuLaunchKernelEx(&config, free_size, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0));
    ck_assert_int_eq(value, 1);
}
END_TEST

START_TEST(a_kernel_that_starts_kernels_is_named_as_that)
{
    test_context(_i);
    FAILS(CUDA_ERROR_NOT_SUPPORTED,
          run_alone(SM_90 ".extern .func (.param .b64 r) __cudaCDP2Memcpy3DAsync;\n"
                          ".visible .entry k() { .param .b64 r; call.uni (r), "
                          "__cudaCDP2Memcpy3DAsync; ret; }"));
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "not supported");
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "dynamic parallelism"));
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "__cudaCDP2Memcpy3DAsync"));
}
END_TEST

START_TEST(memory_operations_come_in_batches)
{
    test_context(_i);
    CUdeviceptr p = test_device(16);
    OK(cuMemsetD8(p, 0, 16));
    CUstreamBatchMemOpParams ops[] = {
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = p, .value = 5}},
        {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                       .address = p,
                       .value = 5,
                       .flags = CU_STREAM_WAIT_VALUE_EQ}},
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64,
                        .address = p + 8,
                        .value64 = 1ull << 40}},
        {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64,
                       .address = p + 8,
                       .value64 = 1ull << 40,
                       .flags = CU_STREAM_WAIT_VALUE_AND}},
        {.memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER}},
    };
    OK(cuStreamBatchMemOp(NULL, 5, ops, 0));
    OK(cuCtxSynchronize());
    uint64_t wide;
    OK(cuMemcpyDtoH(&wide, p + 8, 8));
    ck_assert_uint_eq(wide, 1ull << 40);
    ck_assert_uint_eq(first_word(p), 5);
    OK(cuStreamWaitValue32(NULL, p, 5 | 8, CU_STREAM_WAIT_VALUE_NOR));
    OK(cuCtxSynchronize());
    ops[0].operation = (CUstreamBatchMemOpType)99;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(NULL, 1, ops, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(NULL, 1, NULL, 0));
}
END_TEST

START_TEST(copies_between_contexts_of_one_device)
{
    CUcontext other;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    OK(cuMemsetD32(p, 3, N));
    OK(cuCtxSynchronize());
    OK(cuCtxCreate(&other, NULL, 0, 0));
    CUdeviceptr q = test_device(BYTES);
    OK(cuMemcpyPeer(q, other, p, test_context_handle, BYTES));
    ck_assert_uint_eq(first_word(q), 3);
    OK(cuMemsetD32(q, 4, N));
    CUDA_MEMCPY3D_PEER copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                               .srcDevice = q,
                               .srcContext = other,
                               .srcPitch = 16,
                               .srcHeight = 4,
                               .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                               .dstDevice = p,
                               .dstContext = test_context_handle,
                               .dstPitch = 16,
                               .dstHeight = 4,
                               .WidthInBytes = 16,
                               .Height = 4,
                               .Depth = 2};
    OK(cuMemcpy3DPeer(&copy));
    OK(cuMemcpy3DPeerAsync(&copy, NULL));
    ck_assert_uint_eq(first_word(p), 4);
    OK(cuMemcpyPeerAsync(p, test_context_handle, q, other, BYTES, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyPeer(q, NULL, p, other, 4));
    int can;
    OK(cuDeviceCanAccessPeer(&can, 0, 0));
    ck_assert_int_eq(can, 0);
    FAILS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(test_context_handle, 0));
    FAILS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(other, 0));
    FAILS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(test_context_handle));
    FAILS(CUDA_ERROR_INVALID_DEVICE,
          cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
}
END_TEST

START_TEST(asynchronous_copies_of_rows_and_slices)
{
    test_context(_i);
    unsigned char host[64], out[64] = {0};
    CUdeviceptr p = test_device(64);
    for (unsigned i = 0; i < sizeof host; i++) host[i] = (unsigned char)i;
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = p,
                        .WidthInBytes = 16,
                        .Height = 4};
    OK(cuMemcpy2DAsync(&in, NULL)); /* pitches of 0: dense */
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .srcPitch = 8,
                          .srcHeight = 4,
                          .srcZ = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 8,
                          .dstHeight = 4,
                          .WidthInBytes = 8,
                          .Height = 4,
                          .Depth = 1};
    OK(cuMemcpy3DAsync(&back, NULL));
    OK(cuCtxSynchronize());
    ck_assert_mem_eq(out, host + 32, 32);
    back.srcPitch = 4;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&back));
    back.srcMemoryType = (CUmemorytype)9;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DAsync(&back, NULL));
    OK(cuMemcpy2DUnaligned(&in));
    in.Height = 0;
    OK(cuMemcpy2D(&in));
}
END_TEST

START_TEST(rows_are_filled_in_units_of_every_size)
{
    test_context(_i);
    unsigned char out[64];
    CUdeviceptr p = test_device(64);
    OK(cuMemsetD8Async(p, 0, 64, NULL));
    OK(cuMemsetD16Async(p, 0x0102, 2, NULL));
    OK(cuMemsetD2D16(p + 8, 8, 0x0304, 2, 2));
    OK(cuMemsetD2D32(p + 32, 16, 0x05060708, 1, 2));
    OK(cuMemsetD2D8Async(p + 4, 8, 9, 1, 1, NULL));
    OK(cuMemsetD2D16Async(p + 24, 8, 0x0a0b, 1, 1, NULL));
    OK(cuMemsetD2D32Async(p + 60, 4, 0x0c0d0e0f, 1, 1, NULL));
    OK(cuMemcpyDtoH(out, p, 64));
    static const unsigned char wanted[64] = {2, 1, 2, 1,         9,  [8] = 4,  3, 4, 3, [16] = 4,
                                             3, 4, 3, [24] = 11, 10, [32] = 8, 7, 6, 5, [48] = 8,
                                             7, 6, 5, [60] = 15, 14, 13,       12};
    ck_assert_mem_eq(out, wanted, 64);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(p, 4, 0, 2, 2)); /* overlapping rows */
    OK(cuMemsetD2D32(p, 16, 0, 0, 4));
}
END_TEST

START_TEST(pools_are_handles)
{
    CUmemoryPool made, fallback, current;
    CUdeviceptr p;
    CUmemAccess_flags flags;
    int reuse = 0;
    test_context(_i);
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    OK(cuMemPoolCreate(&made, &properties));
    OK(cuDeviceGetDefaultMemPool(&fallback, 0));
    ck_assert_ptr_ne(made, fallback);
    OK(cuDeviceSetMemPool(0, made));
    OK(cuDeviceGetMemPool(&current, 0));
    ck_assert_ptr_eq(current, made);
    OK(cuMemAllocFromPoolAsync(&p, 64, made, NULL));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemPoolTrimTo(made, 0));
    OK(cuMemPoolSetAttribute(made, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &(int){1}));
    OK(cuMemPoolGetAttribute(made, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    ck_assert_int_eq(reuse, 1);
    CUmemAccessDesc access = {.location = properties.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemPoolSetAccess(made, &access, 1));
    OK(cuMemPoolGetAccess(&flags, made, &properties.location));
    ck_assert_int_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemPoolDestroy(made));
    OK(cuDeviceGetMemPool(&current, 0));
    ck_assert_ptr_eq(current, fallback);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(made));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(fallback));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(made, 0));
    properties.location.id = 3;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&made, &properties));
}
END_TEST

START_TEST(advice_about_managed_memory_is_taken)
{
    CUdeviceptr p;
    test_context(_i);
    const CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    OK(cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAdvise(p, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    CUstream s = test_stream(0);
    OK(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_GLOBAL));
    OK(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
    OK(cuStreamAttachMemAsync(s, p, BYTES, CU_MEM_ATTACH_SINGLE));
    OK(cuStreamAttachMemAsync(CU_STREAM_PER_THREAD, p, 0, CU_MEM_ATTACH_SINGLE));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_SINGLE));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(s, p, 4, CU_MEM_ATTACH_SINGLE));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(s, p + 4, 0, CU_MEM_ATTACH_SINGLE));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(p, BYTES, (CUmem_advise)77, device));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuMemAdvise(test_device(16), 16, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(p, BYTES + 1, device, 0, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, test_device(4), 0, 1));
}
END_TEST

/* Answers of an H200's host with one NUMA node. */
START_TEST(managed_memory_goes_where_there_is_something)
{
    static const struct {
        CUmemLocation location;
        CUresult preferred, accessed, read_mostly, prefetch;
    } rows[] = {
        {{CU_MEM_LOCATION_TYPE_INVALID, 0}, 1, 1, 1, 1},
        {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, 0, 0, 0},
        {{CU_MEM_LOCATION_TYPE_DEVICE, 99}, 1, 1, 0, CUDA_ERROR_INVALID_DEVICE},
        {{CU_MEM_LOCATION_TYPE_DEVICE, -5}, 1, 1, 0, CUDA_ERROR_INVALID_DEVICE},
        {{CU_MEM_LOCATION_TYPE_HOST, 99}, 0, 0, 0, 0},
        {{CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, 0, 1, 0, 0},
        {{CU_MEM_LOCATION_TYPE_HOST_NUMA, 99}, 1, 1, 0, 1},
        {{(CUmemLocationType)9, 0}, 1, 1, 1, 1},
    };
    CUdeviceptr p;
    test_context(_i);
    OK(cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const CUmemLocation to = rows[i].location;
        FAILS(rows[i].preferred, cuMemAdvise(p, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, to));
        FAILS(rows[i].accessed, cuMemAdvise(p, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, to));
        FAILS(rows[i].read_mostly, cuMemAdvise(p, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, to));
        FAILS(rows[i].prefetch, cuMemPrefetchAsync(p, BYTES, to, 0, NULL));
    }
}
END_TEST

START_TEST(attributes_of_streams_kernels_and_the_thread)
{
    CUstreamAttrValue value;
    CUstreamCaptureStatus capture;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUmoduleLoadingMode loading;
    CUfunctionLoadingState state;
    CUmodule module;
    CUsharedconfig banks;
    test_context(_i);
    CUstream a = test_stream(0), b = test_stream(0);
    value.syncPolicy = CU_SYNC_POLICY_SPIN;
    OK(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    OK(cuStreamCopyAttributes(b, a));
    OK(cuStreamGetAttribute(b, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    ck_assert_int_eq(value.syncPolicy, CU_SYNC_POLICY_SPIN);
    OK(cuStreamGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    ck_assert_int_eq(value.priority, 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamGetAttribute(a, CU_LAUNCH_ATTRIBUTE_IGNORE, &value));
    OK(cuStreamIsCapturing(a, &capture));
    ck_assert_int_eq(capture, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuModuleGetLoadingMode(&loading));
    ck_assert_int_eq(loading, CU_MODULE_LAZY_LOADING);
    CUfunction set = test_kernel("set");
    OK(cuFuncSetCacheConfig(set, CU_FUNC_CACHE_PREFER_L1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetCacheConfig(set, (CUfunc_cache)9));
    OK(cuFuncIsLoaded(&state, set));
    ck_assert_int_eq(state, CU_FUNCTION_LOADING_STATE_LOADED);
    OK(cuFuncLoad(set));
    OK(cuFuncGetModule(&module, set));
    ck_assert_ptr_eq(module, test_module);
    OK(cuCtxGetSharedMemConfig(&banks));
    OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    OK(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    OK(cuCtxResetPersistingL2Cache());
    OK(cuProfilerStart());
    OK(cuProfilerStop());
}
END_TEST

/* The answers are an H200's. */
START_TEST(attributes_of_streams_and_launches_are_within_their_limits)
{
    static const struct {
        CUstreamAttrID id;
        CUstreamAttrValue value;
        CUresult code;
    } rows[] = {
        {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
         {.syncPolicy = CU_SYNC_POLICY_YIELD},
         CUDA_SUCCESS},
        {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
         {.syncPolicy = (CUsynchronizationPolicy)99},
         CUDA_ERROR_INVALID_VALUE},
        {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         {.accessPolicyWindow = {.hitRatio = 2}},
         CUDA_ERROR_INVALID_VALUE},
        {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         {.accessPolicyWindow = {.missProp = CU_ACCESS_PROPERTY_PERSISTING}},
         CUDA_ERROR_INVALID_VALUE},
        {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
         {.memSyncDomain = (CUlaunchMemSyncDomain)7},
         CUDA_ERROR_INVALID_VALUE},
        {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
         {.memSyncDomainMap = {.default_ = 9}},
         CUDA_ERROR_INVALID_VALUE},
        {CU_LAUNCH_ATTRIBUTE_PRIORITY, {.priority = -3}, CUDA_SUCCESS},
        {CU_LAUNCH_ATTRIBUTE_IGNORE, {.priority = 0}, CUDA_ERROR_INVALID_VALUE},
    };
    CUstreamAttrValue kept;
    int priority;
    test_context(_i);
    CUstream stream = test_stream(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        FAILS(rows[i].code, cuStreamSetAttribute(stream, rows[i].id, &rows[i].value));
    OK(cuStreamGetPriority(stream, &priority));
    ck_assert_int_eq(priority, -3);
    OK(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &kept));
    ck_assert_int_eq(kept.syncPolicy, CU_SYNC_POLICY_YIELD);

    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE},
        {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN}};
    for (int i = 0; i < 2; i++) {
        CUdeviceptr p = test_device(4);
        uint64_t one = 1;
        int n = 1;
        void *parameters[] = {&p, &one, &n};
        const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, &attributes[i], 1};
        OK(cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL));
        attributes[i].value.priority = 9; /* a number that means nothing */
        FAILS(CUDA_ERROR_INVALID_VALUE,
              cuLaunchKernelEx(&config, test_kernel("set"), parameters, NULL));
    }
}
END_TEST

START_TEST(a_modules_functions_are_listed)
{
    CUfunction functions[16];
    unsigned count;
    const char *name;
    test_context(_i);
    OK(cuModuleGetFunctionCount(&count, test_module));
    ck_assert_uint_eq(count, 9);
    OK(cuModuleEnumerateFunctions(functions, 16, test_module));
    for (unsigned i = 0; i < count; i++) OK(cuFuncGetName(&name, functions[i]));
    ck_assert_ptr_eq(functions[0], test_kernel("set"));
}
END_TEST

START_TEST(the_device_is_described_in_the_old_ways_too)
{
    CUdevprop properties;
    CUdevice device = 5;
    char luid[8], name[32];
    unsigned mask;
    int value;
    test_context(_i);
    OK(cuDeviceGetProperties(&properties, 0));
    ck_assert_int_eq(properties.maxThreadsPerBlock, 1024);
    ck_assert_int_eq(properties.SIMDWidth, 32);
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetLuid(luid, &mask, 0)); /* Windows only */
    OK(cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    ck_assert_int_eq(value, 0);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_MAX, 0));
    OK(cuDeviceGetByPCIBusId(&device, "0000:01:00"));
    OK(cuDeviceGetByPCIBusId(&device, "01:00.0"));
    ck_assert_int_eq(device, 0);
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "0000:ff:1f.7"));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&device, "no bus"));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetName(name, 0, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetPCIBusId(name, 0, 0));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceTotalMem(&(size_t){0}, 2));
}
END_TEST

START_TEST(a_kernel_of_a_library_has_attributes_of_its_own)
{
    CUlibrary library;
    CUkernel kernel;
    CUlibrary owner;
    CUmodule module;
    size_t offset, size;
    int value;
    static const char text[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k(.param .u64 a) { ret; }\n";
    test_context(_i);
    const char *path = temporary_file();
    FILE *file = fopen(path, "w");
    ck_assert_int_ge(fputs(text, file), 0);
    fclose(file);
    OK(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "k"));
    OK(cuKernelGetLibrary(&owner, kernel));
    ck_assert_ptr_eq(owner, library);
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, 0));
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
    ck_assert_int_eq(value, 100000);
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50, kernel, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 3, kernel, 0));
    OK(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED, 0));
    OK(cuKernelGetParamInfo(kernel, 0, &offset, &size));
    ck_assert_uint_eq(size, 8);
    OK(cuLibraryGetModule(&module, library));
    FAILS(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module)); /* it belongs to the library */
    FAILS(CUDA_ERROR_FILE_NOT_FOUND,
          cuLibraryLoadFromFile(&library, "/nowhere", NULL, NULL, 0, NULL, NULL, 0));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuKernelGetName(&(const char *){NULL}, (CUkernel)&value));
}
END_TEST

/* A result needs an address. */
START_TEST(null_answers_are_invalid_values)
{
    test_context(_i);
    CUdeviceptr p = test_device(16);
    CUstream s = test_stream(0);
    CUfunction f = test_kernel("set");
    size_t size;
    const CUresult results[] = {
        cuDeviceGet(NULL, 0),
        cuDeviceGetCount(NULL),
        cuDeviceGetName(NULL, 5, 0),
        cuDeviceGetUuid(NULL, 0),
        cuDeviceTotalMem(NULL, 0),
        cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
        cuDeviceGetPCIBusId(NULL, 5, 0),
        cuDeviceGetByPCIBusId(NULL, "x"),
        cuDevicePrimaryCtxRetain(NULL, 0),
        cuDevicePrimaryCtxGetState(0, NULL, NULL),
        cuCtxGetCurrent(NULL),
        cuCtxGetDevice(NULL),
        cuCtxGetFlags(NULL),
        cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE),
        cuCtxGetCacheConfig(NULL),
        cuCtxGetApiVersion(NULL, NULL),
        cuDriverGetVersion(NULL),
        cuModuleGetFunction(NULL, test_module, "set"),
        cuModuleGetFunction(&f, test_module, NULL),
        cuModuleGetGlobal(NULL, NULL, test_module, "counter"),
        cuLibraryLoadData(NULL, "x", NULL, NULL, 0, NULL, NULL, 0),
        cuMemAllocPitch(NULL, NULL, 4, 4, 4),
        cuMemAllocHost(NULL, 4),
        cuMemAllocManaged(NULL, 4, CU_MEM_ATTACH_GLOBAL),
        cuMemHostGetDevicePointer(NULL, &size, 0),
        cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
        cuMemcpy2D(NULL),
        cuMemcpy3D(NULL),
        cuMemcpy3DPeer(NULL),
        cuStreamGetPriority(s, NULL),
        cuStreamGetFlags(s, NULL),
        cuStreamGetId(s, NULL),
        cuStreamGetCtx(s, NULL),
        cuStreamIsCapturing(s, NULL),
        cuEventCreate(NULL, 0),
        cuLaunchHostFunc(s, NULL, NULL),
        cuStreamAddCallback(s, NULL, NULL, 0),
        cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, f),
        cuFuncGetName(NULL, f),
        cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 32, 0),
        cuOccupancyAvailableDynamicSMemPerBlock(NULL, f, 1, 32),
        cuMemPoolCreate(NULL, NULL),
        cuGetErrorString(CUDA_SUCCESS, NULL),
        cuGetProcAddress(NULL, NULL, 0, 0, NULL),
    };
    OK(cuMemGetInfo(&size, NULL));
    OK(cuMemGetInfo(NULL, NULL));
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        ck_assert_msg(results[i] == CUDA_ERROR_INVALID_VALUE, "call %zu returned %d", i,
                      (int)results[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverRest");
    TCase *tcase = tcase_create("rest");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        a_launch_of_before_cuda_4_is_as_its_function_was_told,
        a_launch_of_before_cuda_4_is_refused_where_it_is_told_too_little,
        an_extended_launch_takes_attributes,
        a_launch_has_the_clusters_it_asks_for,
        clusters_that_do_not_fit_are_refused,
        functions_say_what_clusters_they_allow,
        a_kernel_that_starts_kernels_is_named_as_that,
        memory_operations_come_in_batches,
        copies_between_contexts_of_one_device,
        asynchronous_copies_of_rows_and_slices,
        rows_are_filled_in_units_of_every_size,
        pools_are_handles,
        advice_about_managed_memory_is_taken,
        managed_memory_goes_where_there_is_something,
        attributes_of_streams_kernels_and_the_thread,
        attributes_of_streams_and_launches_are_within_their_limits,
        a_modules_functions_are_listed,
        the_device_is_described_in_the_old_ways_too,
        a_kernel_of_a_library_has_attributes_of_its_own,
        null_answers_are_invalid_values,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
