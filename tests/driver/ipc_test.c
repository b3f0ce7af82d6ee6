/* Memory and events between processes: what may be shared, what another process finds at its own
 * address, and when an event that processes share is complete. */
#include "tests/driver/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 3000, BYTES = WORDS * 4 };

static CUcontext use_device(void)
{
    CUcontext context;
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS)
        _exit(20);
    return context;
}

#define CHILD(number, condition)                                                                   \
    do {                                                                                           \
        if (!(condition)) _exit(number);                                                           \
    } while (0)

/* The other process: uses the handle that it reads from the pipe. */
static void be_other(int from)
{
    static unsigned words[WORDS];
    CUipcMemHandle handle;
    CUdeviceptr p, base;
    size_t size;
    CHILD(1, read(from, &handle, sizeof handle) == (ssize_t)sizeof handle);
    use_device();
    CHILD(2, cuIpcOpenMemHandle(&p, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    CHILD(3, cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_SUCCESS);
    CHILD(4,
          cuMemGetAddressRange(&base, &size, p + 8) == CUDA_SUCCESS && base == p && size == BYTES);
    CHILD(5, cuMemcpyDtoH(words, p, BYTES) == CUDA_SUCCESS);
    for (unsigned k = 0; k < WORDS; k++) CHILD(6, words[k] == 3 * k);
    CHILD(7, cuMemsetD32(p + 4, 77, WORDS - 1) == CUDA_SUCCESS);
    CHILD(8, cuMemFree(p) == CUDA_ERROR_INVALID_VALUE);
    CHILD(9, cuIpcCloseMemHandle(p) == CUDA_SUCCESS);
    CHILD(10, cuIpcCloseMemHandle(p) == CUDA_ERROR_INVALID_VALUE);
    CHILD(11, cuMemsetD32(p, 1, 1) == CUDA_ERROR_INVALID_VALUE);
    _exit(0);
}

START_TEST(another_process_finds_the_same_bytes)
{
    static unsigned words[WORDS];
    int ends[2], status;
    CUipcMemHandle handle, again;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(STDERR_FILENO); /* hides the message about a refusal */
        be_other(ends[0]);
    }
    test_context(_i);
    const CUdeviceptr p = test_device(BYTES);
    for (unsigned k = 0; k < WORDS; k++) words[k] = 3 * k;
    OK(cuMemcpyHtoD(p, words, BYTES));
    OK(cuIpcGetMemHandle(&handle, p + 4)); /* the handle is for the whole allocation */
    OK(cuIpcGetMemHandle(&again, p));
    ck_assert_mem_eq(&handle, &again, sizeof handle);
    /* Nothing waits for the copy, which has run all the same. */
    ck_assert_int_eq(write(ends[1], &handle, sizeof handle), sizeof handle);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    OK(cuMemcpyDtoH(words, p, BYTES));
    ck_assert_uint_eq(words[0], 0);
    for (unsigned k = 1; k < WORDS; k++) ck_assert_uint_eq(words[k], 77);
    OK(cuMemFree(p));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

/* ---- memory that is shared by a descriptor ------------------------------------------------- */

enum { UNIT = 2 << 20 };

/* A message of one byte and a descriptor. */
struct parcel {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    char byte;
    struct iovec part;
    struct msghdr message;
};

static int *pack(struct parcel *parcel)
{
    *parcel = (struct parcel){.part = {&parcel->byte, 1}};
    parcel->message = (struct msghdr){.msg_iov = &parcel->part,
                                      .msg_iovlen = 1,
                                      .msg_control = parcel->control,
                                      .msg_controllen = sizeof parcel->control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&parcel->message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    return (int *)(void *)CMSG_DATA(head);
}

static CUdeviceptr map_at_once(CUmemGenericAllocationHandle memory)
{
    const CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr p = 0;
    if (cuMemAddressReserve(&p, UNIT, 0, 0, 0) != CUDA_SUCCESS ||
        cuMemMap(p, UNIT, 0, memory, 0) != CUDA_SUCCESS ||
        cuMemSetAccess(p, UNIT, &access, 1) != CUDA_SUCCESS)
        return 0;
    return p;
}

static void be_importer(int from)
{
    struct parcel parcel;
    CUmemGenericAllocationHandle memory;
    unsigned word = 0;
    const int *file = pack(&parcel);
    CHILD(1, recvmsg(from, &parcel.message, 0) == 1);
    use_device();
    CHILD(2,
          cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)*file,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS);
    close(*file);
    const CUdeviceptr p = map_at_once(memory);
    CHILD(3, p != 0);
    CHILD(4, cuMemcpyDtoH(&word, p + UNIT - 4, 4) == CUDA_SUCCESS && word == 55);
    CHILD(5, cuMemsetD32(p, 66, 1) == CUDA_SUCCESS);
    CHILD(6, cuMemUnmap(p, UNIT) == CUDA_SUCCESS && cuMemRelease(memory) == CUDA_SUCCESS);
    _exit(0);
}

START_TEST(a_descriptor_shares_memory)
{
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                            .requestedHandleTypes =
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    struct parcel parcel;
    CUmemGenericAllocationHandle memory;
    unsigned word = 0;
    int ends[2], status;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) be_importer(ends[0]);
    test_context(_i);
    OK(cuMemCreate(&memory, UNIT, &properties, 0));
    const CUdeviceptr p = map_at_once(memory);
    OK(cuMemsetD32(p, 55, UNIT / 4)); /* nothing waits for it */
    OK(cuMemExportToShareableHandle(pack(&parcel), memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                    0));
    ck_assert_int_eq(sendmsg(ends[1], &parcel.message, 0), 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    OK(cuMemcpyDtoH(&word, p, 4));
    ck_assert_uint_eq(word, 66);
    OK(cuMemUnmap(p, UNIT));
    OK(cuMemRelease(memory));
    OK(cuMemAddressFree(p, UNIT));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------ */

START_TEST(what_cannot_be_shared_is_refused)
{
    CUipcMemHandle handle;
    CUdeviceptr pooled, managed, p;
    test_context(_i);
    const CUdeviceptr own = test_device(BYTES);
    OK(cuMemAllocAsync(&pooled, BYTES, NULL));
    OK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, pooled));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, managed));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)&handle));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(NULL, own));
    memset(&handle, 7, sizeof handle);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    OK(cuIpcGetMemHandle(&handle, own));
    FAILS(CUDA_ERROR_INVALID_CONTEXT,
          cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(own));
    OK(cuMemFree(managed));
    OK(cuMemFreeAsync(pooled, NULL));
}
END_TEST

/* The process that shared the memory has ended. */
START_TEST(a_handle_of_what_is_gone_says_so)
{
    int ends[2], status;
    CUipcMemHandle handle;
    CUdeviceptr p;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        use_device();
        CHILD(1, cuMemAlloc(&p, BYTES) == CUDA_SUCCESS);
        CHILD(2, cuIpcGetMemHandle(&handle, p) == CUDA_SUCCESS);
        CHILD(3, write(ends[1], &handle, sizeof handle) == (ssize_t)sizeof handle);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(read(ends[0], &handle, sizeof handle), sizeof handle);
    test_context(_i);
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    const struct trace_record *found = test_find(TRACE_FINDING, 0, NULL);
    ck_assert_ptr_nonnull(found);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "is not there"));
}
END_TEST

START_TEST(an_event_of_processes_is_over_when_recorded)
{
    CUipcEventHandle handle;
    CUevent opened;
    test_context(_i);
    const CUdeviceptr p = test_device(BYTES);
    const CUevent event = test_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    const CUevent plain = test_event(CU_EVENT_DISABLE_TIMING);
    const CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuIpcGetEventHandle(&handle, event));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle(&opened, handle));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, plain));
    OK(test_launch("slow", stream, p, 5, WORDS));
    OK(cuEventRecord(event, stream));
    OK(cuMemsetD32(p, 1, 1)); /* the host may know that the kernel is over */
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverIpc");
    TCase *tcase = tcase_create("ipc");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        another_process_finds_the_same_bytes,
        a_descriptor_shares_memory,
        what_cannot_be_shared_is_refused,
        a_handle_of_what_is_gone_says_so,
        an_event_of_processes_is_over_when_recorded,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
