/* libcudart.so.12 takes the arguments and fills the structures of CUDA 12, not those of CUDA 13.
 * Compiled without NVIDIA's header, which is CUDA 13's. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SUCCESS = 0 };
enum { CPU = -1, ATTACH_GLOBAL = 1, SET_READ_MOSTLY = 1, MANAGED = 3 };

typedef struct stream *stream;
typedef struct graph *graph;
typedef struct node *node;

int cudaRuntimeGetVersion(int *version);
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaMallocManaged(void **memory, size_t bytes, unsigned flags);
int cudaFree(void *memory);
int cudaMemAdvise(const void *memory, size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, stream stream);
int cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count, void *attributes,
                         size_t *indexes, size_t attribute_count, size_t *failed, stream stream);
int cudaPointerGetAttributes(void *attributes, const void *memory);
int cudaThreadSynchronize(void);
int cudaStreamCreate(stream *stream);
int cudaStreamDestroy(stream stream);
int cudaStreamBeginCapture(stream stream, int mode);
int cudaStreamEndCapture(stream stream, graph *graph);
int cudaStreamGetCaptureInfo(stream stream, int *status, unsigned long long *id);
int cudaStreamGetCaptureInfo_v2(stream stream, int *status, unsigned long long *id, graph *graph,
                                const node **dependencies, size_t *count);
int cudaGraphCreate(graph *graph, unsigned flags);
int cudaGraphDestroy(graph graph);
int cudaGraphAddEmptyNode(node *made, graph graph, const node *dependencies, size_t count);
int cudaGraphAddDependencies(graph graph, const node *from, const node *to, size_t count);
int cudaGraphGetEdges(graph graph, node *from, node *to, size_t *count);
int cudaGraphNodeGetDependencies(node of, node *dependencies, size_t *count);
int cudaGraphRemoveDependencies(graph graph, const node *from, const node *to, size_t count);
int cudaCreateTextureObject(uint64_t *texture, const void *resource, const void *how,
                            const void *view);
int cudaDestroyTextureObject(uint64_t texture);
int cudaGetTextureObjectResourceDesc(void *resource, uint64_t texture);
int cudaGetLastError(void);

START_TEST(it_says_twelve)
{
    int version = 0;
    ck_assert_int_eq(cudaRuntimeGetVersion(&version), SUCCESS);
    ck_assert_int_eq(version, 12090);
}
END_TEST

START_TEST(properties_are_those_of_twelve)
{
    enum { BYTES = 1032, CLOCK_RATE = 348, MAJOR = 360 };
    enum { ATTRIBUTE_CLOCK_RATE = 13, ATTRIBUTE_MAJOR = 75 };
    unsigned char properties[BYTES + 64];
    int clock_rate, major, value;
    memset(properties, 0xee, sizeof properties);
    ck_assert_int_eq(cudaGetDeviceProperties_v2(properties, 0), SUCCESS);
    for (size_t i = BYTES; i < sizeof properties; i++) ck_assert_uint_eq(properties[i], 0xee);
    memcpy(&clock_rate, properties + CLOCK_RATE, sizeof clock_rate);
    memcpy(&major, properties + MAJOR, sizeof major);
    ck_assert_int_eq(cudaDeviceGetAttribute(&value, ATTRIBUTE_CLOCK_RATE, 0), SUCCESS);
    ck_assert_int_eq(clock_rate, value);
    ck_assert_int_eq(cudaDeviceGetAttribute(&value, ATTRIBUTE_MAJOR, 0), SUCCESS);
    ck_assert_int_eq(major, value);
}
END_TEST

START_TEST(places_of_memory_are_numbers_of_devices)
{
    enum { BYTES = 1 << 16, ATTRIBUTES = 24 };
    unsigned char attributes[ATTRIBUTES + 72];
    void *memory, *parts[2];
    size_t sizes[] = {64}, failed = 7;
    int type;
    ck_assert_int_eq(cudaMallocManaged(&memory, BYTES, ATTACH_GLOBAL), SUCCESS);
    memset(memory, 1, BYTES);
    ck_assert_int_eq(cudaMemAdvise(memory, BYTES, SET_READ_MOSTLY, 0), SUCCESS);
    ck_assert_int_eq(cudaMemPrefetchAsync(memory, BYTES, 0, NULL), SUCCESS);
    ck_assert_int_eq(cudaMemPrefetchAsync(memory, BYTES, CPU, NULL), SUCCESS);
    ck_assert_int_ne(cudaMemPrefetchAsync(memory, BYTES, 77, NULL), SUCCESS);
    cudaGetLastError();
    memset(attributes, 0xee, sizeof attributes);
    ck_assert_int_eq(cudaPointerGetAttributes(attributes, memory), SUCCESS);
    memcpy(&type, attributes, sizeof type);
    ck_assert_int_eq(type, MANAGED);
    for (size_t i = ATTRIBUTES; i < sizeof attributes; i++) ck_assert_uint_eq(attributes[i], 0xee);
    parts[0] = (char *)memory + 1024;
    parts[1] = memory;
    ck_assert_int_ne(
        cudaMemcpyBatchAsync(&parts[0], &parts[1], sizes, 1, NULL, NULL, 0, &failed, NULL),
        SUCCESS); /* no attributes */
    ck_assert_uint_eq(failed, SIZE_MAX);
    cudaGetLastError();
    ck_assert_int_eq(cudaThreadSynchronize(), SUCCESS);
    ck_assert_int_eq(cudaFree(memory), SUCCESS);
}
END_TEST

START_TEST(edges_have_no_data)
{
    graph graph, captured;
    stream stream;
    node nodes[2], from[4] = {0}, to[4] = {0};
    const node *dependencies;
    size_t count = 4;
    int status;
    unsigned long long id;
    ck_assert_int_eq(cudaGraphCreate(&graph, 0), SUCCESS);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(cudaGraphAddEmptyNode(&nodes[i], graph, NULL, 0), SUCCESS);
    ck_assert_int_eq(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1), SUCCESS);
    ck_assert_int_eq(cudaGraphGetEdges(graph, from, to, &count), SUCCESS);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(from[0], nodes[0]);
    ck_assert_ptr_eq(to[0], nodes[1]);
    count = 4;
    ck_assert_int_eq(cudaGraphNodeGetDependencies(nodes[1], from, &count), SUCCESS);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(cudaGraphRemoveDependencies(graph, &nodes[0], &nodes[1], 1), SUCCESS);
    ck_assert_int_eq(cudaGraphDestroy(graph), SUCCESS);

    ck_assert_int_eq(cudaStreamCreate(&stream), SUCCESS);
    ck_assert_int_eq(cudaStreamBeginCapture(stream, 0), SUCCESS);
    ck_assert_int_eq(cudaStreamGetCaptureInfo(stream, &status, &id), SUCCESS);
    ck_assert_int_eq(status, 1);
    ck_assert_int_eq(
        cudaStreamGetCaptureInfo_v2(stream, &status, &id, &captured, &dependencies, &count),
        SUCCESS);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(cudaStreamEndCapture(stream, &captured), SUCCESS);
    ck_assert_int_eq(cudaGraphDestroy(captured), SUCCESS);
    ck_assert_int_eq(cudaStreamDestroy(stream), SUCCESS);
}
END_TEST

START_TEST(descriptions_end_where_twelve_ends_them)
{
    enum { LINEAR = 2, BYTES = 64, BITS = 32, TEXTURE_BYTES = 72 };
    struct {
        int type, padding;
        void *memory;
        int x, y, z, w, kind, more_padding;
        size_t bytes;
        char rest[BYTES - 48];
    } resource = {.type = LINEAR, .x = BITS, .bytes = 1024};
    unsigned char read[BYTES + 96], how[TEXTURE_BYTES] = {0};
    uint64_t texture;
    _Static_assert(sizeof resource == BYTES, "as CUDA 12 has it");
    ck_assert_int_eq(cudaMallocManaged(&resource.memory, 1024, ATTACH_GLOBAL), SUCCESS);
    ck_assert_int_eq(cudaCreateTextureObject(&texture, &resource, how, NULL), SUCCESS);
    memset(read, 0xee, sizeof read);
    ck_assert_int_eq(cudaGetTextureObjectResourceDesc(read, texture), SUCCESS);
    for (size_t i = BYTES; i < sizeof read; i++) ck_assert_uint_eq(read[i], 0xee);
    ck_assert_int_eq(memcmp(read + 8, &resource.memory, sizeof resource.memory), 0);
    ck_assert_int_eq(cudaDestroyTextureObject(texture), SUCCESS);
    ck_assert_int_eq(cudaFree(resource.memory), SUCCESS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("twelve");
    TCase *tcase = tcase_create("twelve");
    tcase_add_test(tcase, it_says_twelve);
    tcase_add_test(tcase, properties_are_those_of_twelve);
    tcase_add_test(tcase, places_of_memory_are_numbers_of_devices);
    tcase_add_test(tcase, edges_have_no_data);
    tcase_add_test(tcase, descriptions_end_where_twelve_ends_them);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
