/* nvidia-smi, in front of NVIDIA's on PATH: under ./emulate. It lists the devices, and answers the
 * queries that scripts ask before they build or run something: -L, --query-gpu and the table. What
 * a GPU would have to measure is "[N/A]". It changes no setting and watches nothing; such options
 * are refused by name.
 *
 * Source: nvidia-smi's manual page.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/nvml/nvml.h"

enum { DONE = 0, MISUSED = 2, NO_DEVICE = 6 }; /* exit statuses, as nvidia-smi has them */
enum { TEXT = 128, MEBIBYTE = 20 };

struct query {
    const char *fields;              /* of --query-gpu; NULL: none */
    const char *device;              /* of -i; NULL: all */
    bool list, whole, header, units; /* -L; -q; of --query-gpu */
};

/* ---- fields ---------------------------------------------------------------------------------- */

enum memory { TOTAL, USED, FREE };

static void write_memory(nvmlDevice_t device, int which, char text[TEXT])
{
    nvmlMemory_t memory = {0};
    nvmlDeviceGetMemoryInfo(device, &memory);
    const unsigned long long bytes = which == TOTAL  ? memory.total
                                     : which == USED ? memory.used
                                                     : memory.free;
    snprintf(text, TEXT, "%llu", bytes >> MEBIBYTE);
}

static void write_clock(nvmlDevice_t device, int which, char text[TEXT])
{
    unsigned clock = 0;
    nvmlDeviceGetMaxClockInfo(device, which, &clock);
    snprintf(text, TEXT, "%u", clock);
}

static void write_index(nvmlDevice_t device, int which, char text[TEXT])
{
    unsigned index = 0;
    (void)which;
    nvmlDeviceGetIndex(device, &index);
    snprintf(text, TEXT, "%u", index);
}

static void write_count(nvmlDevice_t device, int which, char text[TEXT])
{
    unsigned count = 0;
    (void)device;
    (void)which;
    nvmlDeviceGetCount_v2(&count);
    snprintf(text, TEXT, "%u", count);
}

static void write_name(nvmlDevice_t device, int which, char text[TEXT])
{
    (void)which;
    nvmlDeviceGetName(device, text, TEXT);
}

static void write_uuid(nvmlDevice_t device, int which, char text[TEXT])
{
    (void)which;
    nvmlDeviceGetUUID(device, text, TEXT);
}

static void write_bus(nvmlDevice_t device, int which, char text[TEXT])
{
    nvmlPciInfo_t pci = {.busId = ""};
    nvmlDeviceGetPciInfo_v3(device, &pci);
    if (which)
        snprintf(text, TEXT, "0x%02X", pci.bus);
    else
        snprintf(text, TEXT, "%s", pci.busId);
}

static void write_driver(nvmlDevice_t device, int which, char text[TEXT])
{
    (void)device;
    (void)which;
    nvmlSystemGetDriverVersion(text, TEXT);
}

static void write_capability(nvmlDevice_t device, int which, char text[TEXT])
{
    int major = 0, minor = 0;
    (void)which;
    nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
    snprintf(text, TEXT, "%d.%d", major, minor);
}

static void write_ecc(nvmlDevice_t device, int which, char text[TEXT])
{
    int current = 0, pending = 0;
    (void)which;
    nvmlDeviceGetEccMode(device, &current, &pending);
    snprintf(text, TEXT, "%s", current ? "Enabled" : "Disabled");
}

static void write_mode(nvmlDevice_t device, int which, char text[TEXT])
{
    (void)device;
    (void)which;
    snprintf(text, TEXT, "Default");
}

static void write_time(nvmlDevice_t device, int which, char text[TEXT])
{
    const time_t now = time(NULL);
    struct tm local;
    (void)device;
    (void)which;
    if (localtime_r(&now, &local) == NULL ||
        strftime(text, TEXT, "%Y/%m/%d %H:%M:%S.000", &local) == 0)
        snprintf(text, TEXT, "[N/A]");
}

static const struct field {
    const char *name, *also; /* `also`: another name, or NULL */
    const char *unit;        /* NULL: none */
    void (*write)(nvmlDevice_t device, int which, char text[TEXT]);
    int which; /* of what `write` can write */
} fields[] = {
    {"timestamp", NULL, NULL, write_time, 0},
    {"driver_version", NULL, NULL, write_driver, 0},
    {"count", NULL, NULL, write_count, 0},
    {"index", NULL, NULL, write_index, 0},
    {"name", "gpu_name", NULL, write_name, 0},
    {"uuid", "gpu_uuid", NULL, write_uuid, 0},
    {"pci.bus_id", "gpu_bus_id", NULL, write_bus, 0},
    {"pci.bus", NULL, NULL, write_bus, 1},
    {"compute_cap", NULL, NULL, write_capability, 0},
    {"compute_mode", NULL, NULL, write_mode, 0},
    {"memory.total", NULL, "MiB", write_memory, TOTAL},
    {"memory.used", NULL, "MiB", write_memory, USED},
    {"memory.free", NULL, "MiB", write_memory, FREE},
    {"clocks.max.graphics", "clocks.max.gr", "MHz", write_clock, NVML_CLOCK_GRAPHICS},
    {"clocks.max.sm", NULL, "MHz", write_clock, NVML_CLOCK_SM},
    {"clocks.max.memory", "clocks.max.mem", "MHz", write_clock, NVML_CLOCK_MEM},
    {"ecc.mode.current", NULL, NULL, write_ecc, 0},
    {"ecc.mode.pending", NULL, NULL, write_ecc, 0},
};

/* What fields of NVIDIA's that have no row above begin with. */
static const char *const unknown[] = {
    "accounting.", "addressing_mode", "board_id",   "c2c.",          "clocks",
    "ctxsw",       "display_",        "driver_mod", "ecc.",          "encoder.",
    "enforced.",   "fabric.",         "fan.",       "gom.",          "gpu_",
    "gsp.",        "inforom.",        "mig.",       "module_id",     "pci.",
    "pcie.",       "persistence_",    "platform.",  "power.",        "protected_",
    "pstate",      "remapped_rows",   "reset_",     "retired_pages", "serial",
    "temperature", "utilization.",    "vbios_",     "vgpu_",
};

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_field(const struct field *field, const char *name, size_t length)
{
    return (strlen(field->name) == length && strncmp(field->name, name, length) == 0) ||
           (field->also != NULL && strlen(field->also) == length &&
            strncmp(field->also, name, length) == 0);
}

/* Finds the field of a name; NULL: there is no row for it. Returns false for no field at all. */
static bool find(const char *name, size_t length, const struct field **field)
{
    *field = NULL;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && *field == NULL; i++)
        if (is_field(&fields[i], name, length)) *field = &fields[i];
    bool known = *field != NULL;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown && !known; i++)
        known = strncmp(name, unknown[i], strlen(unknown[i])) == 0;
    return known;
}

/* Takes the next name from a list. Returns false at its end. */
static bool next(const char **list, const char **name, size_t *length)
{
    const char *at = *list + strspn(*list, ", ");
    *name = at;
    *length = strcspn(at, ", ");
    *list = at + *length;
    return *length > 0;
}

/* A line of the answer to --query-gpu: of a device, or with NULL the names. */
static void write_line(const struct query *query, nvmlDevice_t device)
{
    const char *list = query->fields, *name, *before = "";
    const struct field *field;
    size_t length;
    while (next(&list, &name, &length)) {
        char text[TEXT] = "[N/A]";
        find(name, length, &field);
        const char *unit = query->units && field != NULL ? field->unit : NULL;
        if (device != NULL && field != NULL) field->write(device, field->which, text);
        printf("%s", before);
        if (device == NULL)
            printf("%.*s", (int)length, name);
        else
            printf("%s", text);
        if (unit != NULL) printf(device == NULL ? " [%s]" : " %s", unit);
        before = ", ";
    }
    printf("\n");
}

/* Widths of the table: of its columns, and of all of it. */
enum { NAME_WIDTH = 41, BUS_WIDTH = 18, USE_WIDTH = 21, TABLE_WIDTH = 82 };

static void write_rule(bool parted)
{
    const int widths[] = {NAME_WIDTH, BUS_WIDTH, USE_WIDTH}, whole = TABLE_WIDTH;
    const int *width = parted ? widths : &whole;
    for (int column = 0; column < (parted ? 3 : 1); column++) {
        printf("+");
        for (int k = 0; k < width[column]; k++) printf("-");
    }
    printf("+\n");
}

static void write_table_head(void)
{
    char driver[NVML_VERSION] = "";
    int cuda = 0;
    nvmlSystemGetDriverVersion(driver, sizeof driver);
    nvmlSystemGetCudaDriverVersion(&cuda);
    write_rule(false);
    printf("| NVIDIA-SMI %-16s Driver Version: %-16s CUDA Version: %2d.%-2d |\n", driver, driver,
           cuda / 1000, cuda % 1000 / 10);
    write_rule(true);
    printf("| GPU  %-34s | %-16s | %19s |\n", "Name", "Bus-Id", "Memory-Usage");
    write_rule(true);
}

static void write_row(nvmlDevice_t device)
{
    char index[TEXT] = "", name[TEXT] = "", bus[TEXT] = "", used[TEXT] = "", total[TEXT] = "";
    write_index(device, 0, index);
    write_name(device, 0, name);
    write_bus(device, 0, bus);
    write_memory(device, USED, used);
    write_memory(device, TOTAL, total);
    printf("| %3s  %-34s | %-16s | %5sMiB / %5sMiB |\n", index, name, bus, used, total);
}

/* Every field of a device, a line each. */
static void write_fields(nvmlDevice_t device)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char text[TEXT] = "[N/A]";
        fields[i].write(device, fields[i].which, text);
        printf("%-30s : %s%s%s\n", fields[i].name, text, fields[i].unit != NULL ? " " : "",
               fields[i].unit != NULL ? fields[i].unit : "");
    }
    printf("\n");
}

/* Answers for one device. */
static void answer(const struct query *query, nvmlDevice_t device)
{
    char index[TEXT] = "", name[TEXT] = "", uuid[TEXT] = "";
    if (query->fields != NULL) {
        write_line(query, device);
        return;
    }
    if (query->whole) {
        write_fields(device);
        return;
    }
    if (!query->list) {
        write_row(device);
        return;
    }
    write_index(device, 0, index);
    write_name(device, 0, name);
    write_uuid(device, 0, uuid);
    printf("GPU %s: %s (UUID: %s)\n", index, name, uuid);
}

/* Returns true if -i names the device, by its number, UUID or place on the bus. */
static bool is_meant(const struct query *query, unsigned index, nvmlDevice_t device)
{
    char uuid[TEXT] = "", number[12];
    nvmlDevice_t by_bus = NULL;
    if (query->device == NULL) return true;
    snprintf(number, sizeof number, "%u", index);
    nvmlDeviceGetUUID(device, uuid, sizeof uuid);
    const char *list = query->device, *name;
    for (size_t length; next(&list, &name, &length);) {
        char one[TEXT];
        if (length >= sizeof one) continue;
        snprintf(one, sizeof one, "%.*s", (int)length, name);
        if (strcmp(one, number) == 0 || strcmp(one, uuid) == 0) return true;
        if (nvmlDeviceGetHandleByPciBusId_v2(one, &by_bus) == NVML_SUCCESS && by_bus == device)
            return true;
    }
    return false;
}

static int answer_all(const struct query *query)
{
    const bool table = query->fields == NULL && !query->list && !query->whole;
    unsigned count = 0, meant = 0;
    nvmlDeviceGetCount_v2(&count);
    for (unsigned i = 0; i < count; i++) {
        nvmlDevice_t device;
        if (nvmlDeviceGetHandleByIndex_v2(i, &device) != NVML_SUCCESS ||
            !is_meant(query, i, device))
            continue;
        if (meant++ == 0 && query->fields != NULL && query->header) write_line(query, NULL);
        if (meant == 1 && table) write_table_head();
        answer(query, device);
    }
    if (meant == 0) {
        printf("No devices were found%s%s\n",
               query->device != NULL ? ": there is none of the name " : "",
               query->device != NULL ? query->device : "");
        return NO_DEVICE;
    }
    if (table) {
        write_rule(true);
        printf("The devices are Overlap's software devices. Each program has its own.\n");
    }
    return DONE;
}

/* ---- the command line ------------------------------------------------------------------------ */

static const char usage[] =
    "nvidia-smi of Overlap's software device\n"
    "  nvidia-smi [-i DEVICE]                       a table of the devices\n"
    "  nvidia-smi -L                                a line for each\n"
    "  nvidia-smi -q [-i DEVICE]                    all that is known of each\n"
    "  nvidia-smi --query-gpu=FIELD,... --format=csv[,noheader][,nounits] [-i DEVICE]\n"
    "Fields: index, name, uuid, pci.bus_id, driver_version, compute_cap, memory.total, "
    "memory.used,\n"
    "memory.free, clocks.max.sm, ...; what a GPU would have to measure is [N/A].\n";

/* The value of an option: behind "=", or the next argument. NULL: `word` is not this option. */
static const char *value_of(const char *word, const char *name, char ***at)
{
    const size_t length = strlen(name);
    if (strncmp(word, name, length) != 0) return NULL;
    if (word[length] == '=') return word + length + 1;
    if (word[length] != '\0' || (*at)[1] == NULL) return NULL;
    return *++*at;
}

static bool read_format(const char *format, struct query *query)
{
    const char *name;
    bool csv = false;
    for (size_t length; next(&format, &name, &length);) {
        if (length == 3 && strncmp(name, "csv", 3) == 0)
            csv = true;
        else if (length == 8 && strncmp(name, "noheader", 8) == 0)
            query->header = false;
        else if (length == 7 && strncmp(name, "nounits", 7) == 0)
            query->units = false;
        else
            return false;
    }
    return csv;
}

/* Returns true if all names of --query-gpu are fields; names the first one that is not. */
static bool are_fields(const char *list)
{
    const struct field *field;
    const char *name;
    size_t length;
    while (next(&list, &name, &length)) {
        if (find(name, length, &field)) continue;
        printf("Field \"%.*s\" is not a valid field to query.\n", (int)length, name);
        return false;
    }
    return true;
}

/* Returns DONE, MISUSED, or -1: the answer is wanted. */
static int read_options(char **arguments, struct query *query)
{
    bool formatted = false;
    for (char **at = arguments; *at != NULL; at++) {
        const char *word = *at, *value;
        if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            printf("%s", usage);
            return DONE;
        }
        if (strcmp(word, "-L") == 0 || strcmp(word, "--list-gpus") == 0) {
            query->list = true;
        } else if (strcmp(word, "-q") == 0 || strcmp(word, "--query") == 0) {
            query->whole = true;
        } else if ((value = value_of(word, "--query-gpu", &at)) != NULL) {
            query->fields = value;
        } else if ((value = value_of(word, "-i", &at)) != NULL ||
                   (value = value_of(word, "--id", &at)) != NULL) {
            query->device = value;
        } else if ((value = value_of(word, "--format", &at)) != NULL) {
            formatted = read_format(value, query);
            if (!formatted) printf("\"%s\" is not a format: csv[,noheader][,nounits] is\n", value);
            if (!formatted) return MISUSED;
        } else {
            printf("The software device's nvidia-smi has no option \"%s\".\n%s", word, usage);
            return MISUSED;
        }
    }
    if (query->fields == NULL) return -1;
    if (!formatted) printf("--query-gpu needs --format=csv\n");
    return formatted && are_fields(query->fields) ? -1 : MISUSED;
}

int main(int argc, char **argv)
{
    struct query query = {.header = true, .units = true};
    (void)argc;
    int status = read_options(argv + 1, &query);
    if (status < 0) {
        nvmlInit_v2();
        status = answer_all(&query);
        nvmlShutdown();
    }
    if (fflush(stdout) != 0) return EXIT_FAILURE;
    return status;
}
