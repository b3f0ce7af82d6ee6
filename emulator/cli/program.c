#include "emulator/cli/program.h"
#include "emulator/cli/options.h"
#include "emulator/front/stripped.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNTIME_NAME "libcudart.so."
#define RUNTIME_MAJOR 13
#define RUNTIME_BEFORE 12 /* for which there is a library as well */

/* ---- finding the file ------------------------------------------------------------------------ */

bool program_on_path(const char *name, char path[PATH_MAX])
{
    const char *folder = getenv("PATH");
    char candidate[PATH_MAX];
    bool found = false;

    if (folder == NULL) folder = "/bin:/usr/bin";
    for (;; folder++) {
        size_t length = strcspn(folder, ":");
        struct stat status;
        int written =
            length > 0 ? snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, folder, name)
                       : snprintf(candidate, sizeof candidate, "./%s", name);
        folder += length;
        if (written < PATH_MAX && stat(candidate, &status) == 0 && S_ISREG(status.st_mode)) {
            bool executable = access(candidate, X_OK) == 0;
            if (executable || !found) memcpy(path, candidate, sizeof candidate);
            found = true;
            if (executable) return true;
        }
        if (*folder == '\0') return found;
    }
}

static int find(const char *name, char *path, char *why, size_t why_size)
{
    struct stat status;

    if (strchr(name, '/') == NULL) {
        if (program_on_path(name, path)) return 0;
        bool here = stat(name, &status) == 0 && S_ISREG(status.st_mode);
        snprintf(path, PATH_MAX, "%s", name);
        if (here && access(name, X_OK) != 0) return 0; /* may be source code: examined below */
        snprintf(why, why_size, "there is no program %s on PATH%s%s", name,
                 here ? "; the one in this folder is ./" : "", here ? name : "");
        return OPTIONS_EXIT_NOT_FOUND;
    }
    snprintf(path, PATH_MAX, "%s", name);
    if (stat(path, &status) == 0) return 0;
    snprintf(why, why_size, "there is no program %s: %s", name, strerror(errno));
    return errno == ENOENT || errno == ENOTDIR ? OPTIONS_EXIT_NOT_FOUND : OPTIONS_EXIT_CANNOT_RUN;
}

/* ---- contents -------------------------------------------------------------------------------- */

/* What an ELF file contains, as far as it matters here. */
struct content {
    int class, machine, type;
    bool interpreted;    /* requests a loader: neither a library nor a static program */
    bool dynamic;        /* has a dynamic section */
    bool device_code;    /* has kernels */
    bool runtime_inside; /* contains the runtime library's code: with symbols, or as
                            emulator/front/stripped.h knows it */
    int runtime_major;   /* N of the libcudart.so.N that it needs; 0: none */
    bool driver;         /* needs libcuda.so.1 */
    uint64_t bytes;      /* size of the file that the loader maps */
};

static void read_needed(const char *name, struct content *content)
{
    if (strncmp(name, RUNTIME_NAME, strlen(RUNTIME_NAME)) == 0)
        content->runtime_major = atoi(name + strlen(RUNTIME_NAME));
    if (strcmp(name, "libcuda.so.1") == 0) content->driver = true;
}

static void read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         struct content *content)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;

    content->dynamic = true;
    for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL; i++) {
        if (entry.d_tag == DT_NULL) return;
        if (entry.d_tag != DT_NEEDED) continue;
        const char *name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        if (name != NULL) read_needed(name, content);
    }
}

/* A function of the runtime library that is defined here was linked in statically. */
static void read_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         struct content *content)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;

    for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
        if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name == NULL) continue;
        if (strcmp(name, "cudaGetDeviceCount") == 0) content->runtime_inside = true;
    }
}

static void read_part(const GElf_Phdr *part, struct content *content)
{
    if (part->p_type == PT_INTERP) content->interpreted = true;
    if (part->p_type == PT_LOAD && part->p_offset + part->p_filesz > content->bytes)
        content->bytes = part->p_offset + part->p_filesz;
}

static bool read_content(int file, struct content *content)
{
    GElf_Ehdr start;
    GElf_Shdr header;
    GElf_Phdr part;
    size_t names, parts = 0;
    Elf_Scn *section = NULL;

    memset(content, 0, sizeof *content);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &start) == NULL) {
        elf_end(elf);
        return false;
    }
    content->class = gelf_getclass(elf);
    content->machine = start.e_machine;
    content->type = start.e_type;
    elf_getphdrnum(elf, &parts);
    for (size_t i = 0; i < parts; i++)
        if (gelf_getphdr(elf, (int)i, &part) != NULL) read_part(&part, content);
    bool named = elf_getshdrstrndx(elf, &names) == 0;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL) continue;
        const char *name = named ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name != NULL && strcmp(name, ".nv_fatbin") == 0) content->device_code = true;
        if (header.sh_type == SHT_DYNAMIC) read_dynamic(elf, section, &header, content);
        if (header.sh_type == SHT_SYMTAB) read_symbols(elf, section, &header, content);
    }
    elf_end(elf);
    return true;
}

static bool own_machine(struct content *content)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool known = file >= 0 && read_content(file, content);
    if (file >= 0) close(file);
    return known;
}

static const char *machine_name(int machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_AARCH64:
        return "64-bit Arm";
    case EM_386:
        return "32-bit x86";
    case EM_ARM:
        return "32-bit Arm";
    case EM_PPC64:
        return "POWER";
    case EM_RISCV:
        return "RISC-V";
    case EM_CUDA:
        return "NVIDIA GPUs: it is a cubin, which a program loads";
    default:
        return "another kind of machine";
    }
}

/* ---- suitability ----------------------------------------------------------------------------- */

static bool has_stripped_runtime(const char *path)
{
    struct symbols_file file;
    struct symbols symbols;
    if (!symbols_map(path, &file)) return false;
    const bool found = stripped_find(&file, &symbols) != 0;
    if (found) free((void *)symbols.rows);
    symbols_unmap(&file);
    return found;
}

static int unfit(char *why, size_t why_size, const char *name, const char *sentence)
{
    snprintf(why, why_size, "%s %s", name, sentence);
    return OPTIONS_EXIT_CANNOT_RUN;
}

static int judge_elf(const char *name, const struct content *content, uint64_t size, char *why,
                     size_t why_size)
{
    struct content own;

    if (own_machine(&own) && (own.machine != content->machine || own.class != content->class)) {
        snprintf(why, why_size, "%s is for %s, and this machine is not", name,
                 machine_name(content->machine));
        return OPTIONS_EXIT_CANNOT_RUN;
    }
    if (content->type != ET_EXEC && content->type != ET_DYN)
        return unfit(why, why_size, name,
                     content->type == ET_REL ? "is an object file: link it first"
                                             : "is an ELF file, but no program");
    if (content->bytes > size)
        return unfit(why, why_size, name, "is cut off: the end of the file is missing");
    if (content->runtime_major != 0 && content->runtime_major != RUNTIME_MAJOR &&
        content->runtime_major != RUNTIME_BEFORE) {
        snprintf(
            why, why_size,
            "%s needs " RUNTIME_NAME "%d, of CUDA %d. The software device is CUDA %d, and runs "
            "programs of CUDA %d: build the program with the nvcc of one of the two",
            name, content->runtime_major, content->runtime_major, RUNTIME_MAJOR, RUNTIME_BEFORE);
        return OPTIONS_EXIT_CANNOT_RUN;
    }
    if (content->runtime_major == 0 && content->device_code && !content->runtime_inside)
        return unfit(
            why, why_size, name,
            "has the CUDA runtime linked in statically, as nvcc does by default, no symbols, and "
            "no runtime of a version that the software device knows without them. Do not strip "
            "the program, or build it with:\n  nvcc -cudart shared ...            (CMake: "
            "set(CMAKE_CUDA_RUNTIME_LIBRARY Shared))");
    if (!content->interpreted && content->type == ET_DYN && content->dynamic)
        return unfit(why, why_size, name, "is a shared library: run a program that uses it");
    if (!content->interpreted)
        return unfit(why, why_size, name,
                     "is linked statically, without a loader that could find the software device");
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* The file is neither ELF nor a script. */
static int judge_other(const char *name, bool empty, char *why, size_t why_size)
{
    static const char *const sources[] = {".cu", ".c", ".cpp", ".cc", ".cxx"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (!ends_with(name, sources[i])) continue;
        snprintf(why, why_size,
                 "%s is source code. Compile it, and run what comes out:\n"
                 "  nvcc -g -lineinfo -o %.*s %s",
                 name, (int)(strlen(name) - strlen(sources[i])), name, name);
        return OPTIONS_EXIT_CANNOT_RUN;
    }
    return unfit(why, why_size, name,
                 empty ? "is empty" : "is no program: neither an ELF file nor a script");
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_tool(const char *path)
{
    static const char *const tools[] = {"nvcc", "nvidia-smi", "ptxas", "cmake",
                                        "make", "gmake",      "ninja", "meson"};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(name_of(path), tools[i]) == 0) return true;
    return false;
}

/* Decided by the file's name, or by the first line of a script. */
static bool is_python(const char *path, const char *start)
{
    if (strncmp(name_of(path), "python", 6) == 0) return true;
    const char *python = strncmp(start, "#!", 2) == 0 ? strstr(start, "python") : NULL;
    return python != NULL && memchr(start, '\n', (size_t)(python - start)) == NULL;
}

int program_examine(const char *name, struct program *program, char *why, size_t why_size)
{
    struct content content;
    struct stat status;
    char start[256] = "";

    memset(program, 0, sizeof *program);
    int verdict = find(name, program->path, why, why_size);
    if (verdict != 0) return verdict;
    int file = open(program->path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) {
        snprintf(why, why_size, "%s cannot be read: %s", name, strerror(errno));
        verdict = OPTIONS_EXIT_CANNOT_RUN;
        goto done;
    }
    if (S_ISDIR(status.st_mode)) {
        verdict = unfit(why, why_size, name, "is a folder");
        goto done;
    }
    ssize_t got = pread(file, start, sizeof start - 1, 0);
    program->is_python = is_python(program->path, start);
    program->is_tool = is_tool(program->path);
    if (strncmp(start, "#!", 2) == 0) goto executable;
    if (!read_content(file, &content)) {
        verdict = judge_other(name, got == 0, why, why_size);
        goto done;
    }
    if (content.device_code && content.runtime_major == 0 && !content.runtime_inside)
        content.runtime_inside = has_stripped_runtime(program->path);
    verdict = judge_elf(name, &content, (uint64_t)status.st_size, why, why_size);
    if (verdict != 0) goto done;
    program->loads_runtime = content.runtime_major != 0;
    program->names_cuda = content.runtime_major != 0 || content.runtime_inside || content.driver;
executable:
    if (access(program->path, X_OK) != 0) {
        snprintf(why, why_size, "%s cannot be executed: %s (chmod +x?)", name, strerror(errno));
        verdict = OPTIONS_EXIT_CANNOT_RUN;
    }
done:
    if (file >= 0) close(file);
    return verdict;
}
