/* Runs a fuzz target without a fuzzer: over the files of the given folders, and over reproducible
 * mutations of them. An input that crashes, hangs or is too large is saved in a file.
 *
 *   replay MUTATIONS FOLDER...
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_SIZE = 1 << 20, SECONDS_EACH = 20, MEGABYTES = 1024 };

struct seed {
    char *name;
    uint8_t *bytes;
    size_t size;
};

static struct {
    struct seed *seeds;
    size_t count;
    const uint8_t *bytes; /* the input that is running */
    size_t size;
    char name[300];
    int console;
} replay;

/* ---- what is left behind when an input fails ------------------------------------------------ */

static void save_input(void)
{
    static const char left[] = "this input failed, and is left in ./fuzz-failed: ";
    const int file = open("fuzz-failed", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    bool done = file >= 0 && write(file, replay.bytes, replay.size) == (ssize_t)replay.size;
    done = write(replay.console, left, sizeof left - 1) > 0 && done;
    done = write(replay.console, replay.name, strlen(replay.name)) > 0 && done;
    done = write(replay.console, "\n", 1) > 0 && done;
    if (!done) _exit(3);
}

static void failed(int number)
{
    signal(number, SIG_DFL);
    save_input();
    raise(number);
}

/* The sanitizers' own exits, where they are linked in. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));
__attribute__((weak)) void __sanitizer_set_report_fd(void *file);

/* The targets' readers print much on standard error; only failures matter here. */
static void keep_quiet(void)
{
    replay.console = dup(STDERR_FILENO);
    const int nothing = open("/dev/null", O_WRONLY);
    if (replay.console < 0 || nothing < 0 || dup2(nothing, STDERR_FILENO) < 0) abort();
    close(nothing);
    if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)replay.console);
}

static void watch(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(save_input);
    } else {
        /* The sanitizers' shadow is memory too; sanitizers have a limit of their own. */
        struct rlimit limit = {.rlim_cur = (rlim_t)MEGABYTES << 20,
                               .rlim_max = (rlim_t)MEGABYTES << 20};
        if (setrlimit(RLIMIT_DATA, &limit)) abort();
        for (size_t k = 0; k < 5; k++) signal(signals[k], failed);
    }
    signal(SIGALRM, failed);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The input is a malloc of exactly its size, so that a read beyond it is detected. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) abort();
    memcpy(exact, bytes, size);
    replay.bytes = exact;
    replay.size = size;
    alarm(SECONDS_EACH);
    LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    free(exact);
}

static void add_seed(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    struct seed seed = {.name = strdup(name), .bytes = malloc(MOST_SIZE)};
    struct seed *seeds = reallocarray(replay.seeds, replay.count + 1, sizeof *seeds);
    if (!file || !seed.name || !seed.bytes || !seeds) abort();
    seed.size = fread(seed.bytes, 1, MOST_SIZE, file);
    fclose(file);
    replay.seeds = seeds;
    replay.seeds[replay.count++] = seed;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_folder(const char *folder)
{
    struct dirent **names;
    const int count = scandir(folder, &names, NULL, by_name);
    if (count < 0) {
        perror(folder);
        exit(2);
    }
    for (int k = 0; k < count; k++) {
        if (names[k]->d_name[0] != '.') add_seed(folder, names[k]->d_name);
        free(names[k]);
    }
    free(names);
}

/* ---- mutations ------------------------------------------------------------------------------- */

static uint64_t state;

static size_t draw(size_t below)
{
    state ^= state << 13; /* xorshift64 */
    state ^= state >> 7;
    state ^= state << 17;
    return below ? (size_t)(state % below) : 0;
}

/* Puts a piece of any seed, or an extreme number, into the input: overwrites it, or inserts it. */
static size_t put_piece(uint8_t *bytes, size_t size, const uint8_t *piece, size_t length, bool over)
{
    const size_t at = draw(size + 1);
    if (over) {
        if (length > MOST_SIZE - at) length = MOST_SIZE - at;
        memcpy(bytes + at, piece, length);
        return at + length > size ? at + length : size;
    }
    if (length > MOST_SIZE - size) length = MOST_SIZE - size;
    memmove(bytes + at + length, bytes + at, size - at);
    memcpy(bytes + at, piece, length);
    return size + length;
}

static size_t cut_piece(uint8_t *bytes, size_t size)
{
    const size_t at = draw(size);
    const size_t length = 1 + draw(size - at < 64 ? size - at : 64);
    if (at + length >= size) return at;
    memmove(bytes + at, bytes + at + length, size - at - length);
    return size - length;
}

static size_t mutate(uint8_t *bytes, size_t size)
{
    static const char *const edges[] = {"0",  "1",     "-1",   "31",         "32",
                                        "63", "65536", "1024", "2147483647", "18446744073709551615",
                                        ";",  "{",     "}",    "[",          "]"};
    static const uint8_t bits[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    const struct seed *other = &replay.seeds[draw(replay.count)];
    const char *edge = edges[draw(sizeof edges / sizeof *edges)];
    const size_t from = draw(other->size);
    size_t length = 1 + draw(other->size - from < 80 ? other->size - from : 80);
    if (length > other->size - from) length = other->size - from;
    switch (draw(7)) {
    case 0:
        if (size) bytes[draw(size)] ^= (uint8_t)(1u << draw(8));
        return size;
    case 1:
        if (size) bytes[draw(size)] = (uint8_t)draw(256);
        return size;
    case 2:
        return size ? cut_piece(bytes, size) : 0;
    case 3:
        return put_piece(bytes, size, other->bytes + from, length, draw(2));
    case 4:
        return put_piece(bytes, size, (const uint8_t *)edge, strlen(edge), draw(2));
    case 5:
        return put_piece(bytes, size, bits, 1 + draw(sizeof bits), true);
    default:
        return draw(8) ? size : draw(size + 1);
    }
}

int main(int count, char **words)
{
    if (count < 3) {
        fprintf(stderr, "usage: %s MUTATIONS FOLDER...\n", words[0]);
        return 2;
    }
    for (int k = 2; k < count; k++) add_folder(words[k]);
    if (replay.count == 0) {
        fprintf(stderr, "%s: no seeds\n", words[0]);
        return 2;
    }
    keep_quiet();
    watch();
    for (size_t k = 0; k < replay.count; k++) {
        snprintf(replay.name, sizeof replay.name, "%s", replay.seeds[k].name);
        run(replay.seeds[k].bytes, replay.seeds[k].size);
    }
    uint8_t *bytes = malloc(MOST_SIZE);
    if (!bytes) abort();
    const unsigned long mutations = strtoul(words[1], NULL, 10);
    for (unsigned long m = 0; m < mutations; m++) {
        state = 0x9e3779b97f4a7c15u * (m + 1);
        const struct seed *seed = &replay.seeds[m % replay.count];
        size_t size = seed->size;
        memcpy(bytes, seed->bytes, size);
        for (size_t times = 1 + draw(4); times > 0; times--) size = mutate(bytes, size);
        snprintf(replay.name, sizeof replay.name, "mutation %lu, of %s", m, seed->name);
        run(bytes, size);
    }
    free(bytes);
    printf("%zu seeds and %lu mutations\n", replay.count, mutations);
    for (size_t k = 0; k < replay.count; k++) {
        free(replay.seeds[k].name);
        free(replay.seeds[k].bytes);
    }
    free(replay.seeds);
    return 0;
}
