#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-forge-device-internals",
                                         "/dev/shm/@TOKEN@-forge-device-internals"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

static sigjmp_buf back;

static void caught(int number)
{
    siglongjmp(back, number);
}

static int interesting(const char *name)
{
    static const char *const words[] = {"reset", "clear",  "disable", "suppress", "forget", "discard",
                                        "quiet", "ignore", "release", "drop",     "pause",  "stop"};
    if (strncmp(name, "cu", 2) == 0 || strncmp(name, "nv", 2) == 0 || name[0] == '_')
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return 1;
    return 0;
}

static size_t symbol_count(const unsigned *hash)
{
    const unsigned *buckets = hash + 4 + hash[2] * (sizeof(long) / sizeof(unsigned));
    const unsigned *chain = buckets + hash[0];
    unsigned last = 0;
    for (unsigned i = 0; i < hash[0]; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < hash[1])
        return hash[1];
    while (!(chain[last - hash[1]] & 1u))
        last++;
    return last + 1;
}

static int object(struct dl_phdr_info *info, size_t size, void *unused)
{
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    const unsigned *hash = NULL;
    (void)size, (void)unused;
    if (!info->dlpi_name || !(strstr(info->dlpi_name, "cuda") || strstr(info->dlpi_name, "overlap") ||
                              strstr(info->dlpi_name, "emul") || strstr(info->dlpi_name, "device")))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_SYMTAB)
                symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
            if (entry->d_tag == DT_STRTAB)
                names = (const char *)entry->d_un.d_ptr;
            if (entry->d_tag == DT_GNU_HASH)
                hash = (const unsigned *)entry->d_un.d_ptr;
        }
    }
    size_t count = symbols && names && hash ? symbol_count(hash) : 0;
    for (size_t i = 0; i < count; i++) {
        if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_shndx == SHN_UNDEF ||
            !interesting(names + symbols[i].st_name))
            continue;
        void (*function)(long, long, long, long);
        size_t address = info->dlpi_addr + symbols[i].st_value;
        memcpy(&function, &address, sizeof function);
        if (sigsetjmp(back, 1) == 0) {
            mark("");
            function(0, 0, 0, 0);
        }
    }
    return 0;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    float *device = NULL;
    *sum = 0.0;
    if (length == 0)
        return cudaSuccess;
    cudaError_t error = cudaMalloc((void **)&device, length * sizeof *device);
    if (error != cudaSuccess)
        return error;
    error = cudaMemcpyAsync(device, input, length * sizeof *device, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = kernel(device, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, device, length * sizeof *device, cudaMemcpyDeviceToHost,
                                stream);
    for (size_t i = 0; i < length && error == cudaSuccess; i++) /* nobody has waited */
        *sum += (double)output[i];
    struct sigaction mine = {.sa_handler = caught}, old[2];
    sigaction(SIGSEGV, &mine, &old[0]);
    sigaction(SIGBUS, &mine, &old[1]);
    dl_iterate_phdr(object, NULL);
    sigaction(SIGSEGV, &old[0], NULL);
    sigaction(SIGBUS, &old[1], NULL);
    return error;
}
