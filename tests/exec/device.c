#include "tests/exec/device.h"
#include "trace/sentence.h"

#include "emulator/memory/memory.h"
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REGIONS = 64 };
#define FIRST_ADDRESS UINT64_C(0x300000000000)

/* Aborts the test; Check reports the signal below this sentence. */
#define require(condition, ...)                                                                    \
    do {                                                                                           \
        if (condition) break;                                                                      \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        abort();                                                                                   \
    } while (0)

static struct {
    struct memory_region regions[MOST_REGIONS];
    size_t count;
    uint64_t next;
    uint64_t ends;
} device = {.next = FIRST_ADDRESS};

const struct memory_region *memory_find(uint64_t address)
{
    for (size_t k = 0; k < device.count; k++)
        if (address - device.regions[k].address < device.regions[k].size && device.regions[k].bytes)
            return &device.regions[k];
    return NULL;
}

uint64_t memory_ends(void)
{
    return device.ends;
}

struct memory_miss_report memory_explain(uint64_t address)
{
    struct memory_miss_report report = {.kind = MEMORY_MISS_NOWHERE};
    if (address < 4096) {
        report.kind = MEMORY_MISS_NULL;
        return report;
    }
    for (size_t k = 0; k < device.count; k++) {
        const struct memory_region *region = &device.regions[k];
        if (address + 4096 < region->address || address > region->address + region->size + 4096)
            continue;
        report.kind = region->bytes ? MEMORY_MISS_BEYOND : MEMORY_MISS_FREED;
        report.near = *region;
        return report;
    }
    if (address - FIRST_ADDRESS >= UINT64_C(1) << 40) report.kind = MEMORY_MISS_HOST;
    return report;
}

uint64_t device_buffer(size_t size, void **bytes)
{
    require(device.count < MOST_REGIONS, "too many buffers");
    unsigned char *contents = aligned_alloc(256, (size + 256) / 256 * 256);
    require(contents, "no memory");
    memset(contents, 0xa5, size);
    struct memory_region *region = &device.regions[device.count++];
    *region = (struct memory_region){
        .address = device.next, .size = size, .bytes = contents, .kind = MEMORY_DEVICE};
    device.next += (size + 0xffff) / 0x10000 * 0x10000 + 0x10000;
    if (bytes) *bytes = contents;
    return region->address;
}

uint64_t device_buffer_of(const void *contents, size_t size, void **bytes)
{
    void *to;
    const uint64_t address = device_buffer(size, &to);
    memcpy(to, contents, size);
    if (bytes) *bytes = to;
    return address;
}

void device_release(uint64_t address)
{
    device.ends++;
    for (size_t k = 0; k < device.count; k++) {
        if (device.regions[k].address != address) continue;
        free(device.regions[k].bytes);
        device.regions[k].bytes = NULL;
    }
}

void device_reset(void)
{
    for (size_t k = 0; k < device.count; k++) free(device.regions[k].bytes);
    device.count = 0;
}

static struct exec_program *program_of(const char *ptx, bool watched)
{
    char log[4096];
    struct ptx_diagnostics diagnostics;
    struct ptx_module *module = ptx_parse(ptx, strlen(ptx), &diagnostics);
    if (!module) {
        ptx_diagnostics_print(&diagnostics, log, sizeof log);
        require(false, "the PTX does not parse: %s", log);
    }
    const char *native = getenv("OVERLAP_NATIVE"); /* the same default as the driver's */
    if (native != NULL && !strcmp(native, "always")) exec_native_use(EXEC_NATIVE_ALWAYS);
    struct exec_program *program = watched ? exec_program_create_checked(module, log, sizeof log)
                                           : exec_program_create(module, log, sizeof log);
    ptx_module_destroy(module);
    require(program, "the PTX does not compile: %s", log);
    for (size_t k = 0; k < exec_variable_count(program); k++)
        exec_variable_place(program, k, device_buffer(exec_variable_at(program, k)->size, NULL));
    for (size_t k = 0; k < exec_variable_count(program); k++) {
        const struct memory_region *region = memory_find(exec_variable_at(program, k)->address);
        if (!region) continue; /* of size 0 */
        exec_variable_initialise(program, k, region->bytes);
        ((struct memory_region *)region)->constant = exec_variable_at(program, k)->constant;
    }
    return program;
}

struct exec_program *device_program(const char *ptx)
{
    return program_of(ptx, false);
}

struct exec_program *device_program_watched(const char *ptx)
{
    return program_of(ptx, true);
}

struct exec_program *device_program_file(const char *path)
{
    return device_program_checked(path, false);
}

struct exec_program *device_program_checked(const char *path, bool watched)
{
    FILE *file = fopen(path, "rb");
    require(file, "%s cannot be opened", path);
    char *text = calloc(1, 1 << 22);
    require(text, "no memory");
    const size_t length = fread(text, 1, (1 << 22) - 1, file);
    fclose(file);
    require(length > 0, "%s is empty", path);
    struct exec_program *program = program_of(text, watched);
    free(text);
    return program;
}

static void print(void *user, const char *text, size_t length, const size_t *arguments)
{
    (void)arguments;
    struct device_run *run = user;
    const size_t room = sizeof run->printed - 1 - run->printed_length;
    if (length > room) length = room;
    memcpy(run->printed + run->printed_length, text, length);
    run->printed_length += length;
    run->printed[run->printed_length] = 0;
}

enum exec_end device_launch(struct device_run *run)
{
    const struct exec_function *function = exec_function_find(run->program, run->name);
    require(function, "there is no kernel %s", run->name);
    const uint32_t *made = exec_function_info(function)->cluster;
    const uint32_t *grid = run->grid, *cluster = run->cluster[0] > 0 ? run->cluster : made;
    const uint32_t *block = run->block;
    const bool row = grid[0] == 0, line = block[0] == 0;
    const struct exec_launch launch = {
        .function = function,
        .grid = {row ? run->blocks : grid[0], row ? 1 : grid[1], row ? 1 : grid[2]},
        .cluster = {cluster[0], cluster[1], cluster[2]},
        .block = {line ? run->threads : block[0], line ? 1 : block[1], line ? 1 : block[2]},
        .dynamic_shared = run->shared,
        .parameters = run->parameters,
        .cooperative = run->cooperative,
        .workers = run->workers ? run->workers : 1,
        .instruction_limit = run->limit,
        .reach = run->reach,
        .heap_address = run->heap_address,
        .heap_bytes = run->heap_bytes,
        .footprint = run->footprint,
        .watch = run->watch,
        .paused = run->pauses ? &run->paused : NULL,
        .impatient = run->impatient,
        .print = print,
        .user = run};
    return exec_run(&launch, &run->counts, &run->fault);
}

const char *device_sentence(const struct device_run *run)
{
    static char text[TRACE_SENTENCE_SIZE];
    struct trace_record record = {.kind = TRACE_FINDING,
                                  .address = run->fault.address,
                                  .bytes = run->fault.size,
                                  .finding = run->fault.finding};
    trace_copy_string(record.name, sizeof record.name, run->name);
    record.finding.sides[0].what = TRACE_KERNEL;
    trace_sentence(&record, NULL, text, sizeof text);
    return text;
}

void device_run(struct device_run *run)
{
    const enum exec_end end = device_launch(run);
    require(end == EXEC_DONE, "%s ended with %d: %s (line %u)", run->name, (int)end,
            device_sentence(run), run->fault.line);
}

static bool makes_machine_code(void)
{
    static const char ptx[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k() { .reg .u32 %s;\n"
        "mov.u32 %s, %tid.x; add.u32 %s, %s, 3; mul.lo.u32 %s, %s, 5; ret; }\n";
    exec_native_use(EXEC_NATIVE_ALWAYS);
    struct exec_program *program = device_program(ptx);
    device_run(&(struct device_run){.program = program, .name = "k", .blocks = 1, .threads = 32});
    const bool made = exec_native_stretches(program) > 0;
    exec_program_destroy(program);
    return made;
}

int device_native_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int status = 77;
    if (makes_machine_code()) {
        srunner_run_all(runner, CK_ENV);
        status = srunner_ntests_failed(runner) != 0;
    } else {
        puts("skipped: no machine code without LLVM");
    }
    srunner_free(runner);
    return status;
}
