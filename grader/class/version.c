#include "grader/class/version.h"
#include "grader/base/sha256.h"
#include "grader/build/intake.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static void put_hash(json_t *version, const char *key, struct sha256 *hash)
{
    char text[SHA256_TEXT_SIZE];
    sha256_end(hash, text);
    json_put_text(version, key, text);
}

/* Hashes the programs that judge and run. Programs that are not built (the recorder without a GPU)
 * are left out. */
static int hash_grader(json_t *version, const struct toolchain *toolchain, struct text *why)
{
    static const char *const libraries[] = {"libcudart.so.13", "libcuda.so.1"};
    char path[PATH_MAX];
    struct sha256 hash;

    sha256_begin(&hash);
    if (sha256_add_file(&hash, "/proc/self/exe") != 0 ||
        sha256_add_file(&hash, toolchain->runner) != 0) {
        text_format(why, "the grader cannot be read: %s", strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", toolchain->emulator, libraries[i]);
        sha256_add_string(&hash, libraries[i]);
        sha256_add_file(&hash, path);
    }
    sha256_add_file(&hash, toolchain->recorder);
    put_hash(version, "grader", &hash);
    return 0;
}

static int hash_lessons(json_t *version, const struct toolchain *toolchain,
                        const struct lesson *const *table, struct text *why)
{
    char path[PATH_MAX], missing[200];
    struct sha256 hash;

    sha256_begin(&hash);
    for (; *table != NULL; table++) {
        if (intake_hash_ours(toolchain, *table, &hash, missing, sizeof missing) != 0) {
            text_format(why, "%s is missing: the project is not built", missing);
            return -1;
        }
        for (const char *const *file = (*table)->files; *file != NULL; file++) {
            snprintf(path, sizeof path, "%s/solutions/%s/%s", toolchain->source, (*table)->folder,
                     *file);
            sha256_add_file(&hash, path);
        }
    }
    put_hash(version, "lessons", &hash);
    return 0;
}

static void hash_options(json_t *version, const struct options *options)
{
    char words[128];
    struct sha256 hash;

    snprintf(words, sizeof words, "%d %u %d %llu", (int)options->device, options->random_orders,
             options->seed_given, options->seed_given ? (unsigned long long)options->seed : 0ull);
    sha256_begin(&hash);
    sha256_add_string(&hash, words);
    sha256_add_string(&hash, options->filter);
    for (size_t i = 0; i < options->word_count; i++) sha256_add_string(&hash, options->words[i]);
    put_hash(version, "options", &hash);
}

json_t *version_make(const struct toolchain *toolchain, const struct lesson *const *table,
                     const struct options *options, struct text *why)
{
    json_t *version = json_object();

    if (hash_grader(version, toolchain, why) == 0 &&
        hash_lessons(version, toolchain, table, why) == 0) {
        hash_options(version, options);
        return version;
    }
    json_decref(version);
    return NULL;
}
