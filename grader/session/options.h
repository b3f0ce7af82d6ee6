/* options: the grader's command line and the environment variables that stand in for it.
 *
 * Words are lessons; flags of ours have plain names; GoogleTest's begin with --gtest_ and behave as
 * GoogleTest's do, but for one thing: a flag that is not there, and a filter that nothing matches,
 * end with status 2, because a mistake must not look green. session/help.txt is the text of --help.
 */
#ifndef OVERLAP_GRADER_SESSION_OPTIONS_H
#define OVERLAP_GRADER_SESSION_OPTIONS_H

#include "grader/base/text.h"
#include "grader/run/cache.h"

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_MOST_JOBS 512
#define OPTIONS_MOST_PARTS 1000 /* Slurm's own limit on an array is 1001 by default */

/* What to do where the machine cannot contain a submission as far as the grader would. */
enum options_sandbox {
    SANDBOX_AUTO,    /* say so and go on */
    SANDBOX_REQUIRE, /* refuse */
    SANDBOX_OFF,     /* contain nothing: for whoever debugs their own program */
};

struct options {
    const char **words; /* lessons as typed */
    size_t word_count;
    enum devices_wanted device;
    enum options_sandbox sandbox;
    bool solutions;
    const char *submission; /* NULL: lessons/ */
    bool seed_given;
    uint64_t seed;
    unsigned
        random_orders;    /* in how many random orders the emulator runs what it runs in several */
    const char **reports; /* --report, as typed */
    size_t report_count;
    const char *timeline; /* NULL: none is drawn; "": in the terminal; otherwise the file's path */
    const char *marks;    /* a table of points; NULL: the grader's own */
    bool help;
    bool version;

    /* A class (grader/class); without `class` none of them means anything. */
    const char *class; /* the folder with what was handed in; NULL: no class */
    int jobs;          /* submissions of a class, or lessons of one, side by side; 0: not given */
    const char *roster;
    const char *state; /* where results are kept; NULL: beside the class's folder */
    bool again;        /* grade what has not changed as well */
    bool slurm;        /* hand it to a cluster, */
    int slurm_tasks;   /* in so many parts; 0: as the class is large */
    int part, parts;   /* grade only this part; parts 0: all */
    bool check_lessons;

    const char *filter;
    bool list_tests;
    bool also_run_disabled_tests;
    bool fail_if_no_test_selected; /* true, unlike in GoogleTest */
    int repeat;                    /* negative: for ever */
    bool shuffle;
    int random_seed;
    bool fail_fast;
    bool brief;
    const char *color; /* "yes", "no", "auto" */
    bool print_time;
    const char *output; /* "xml:FILE", "json:FILE"; "" : none */

    unsigned shard, shards; /* shards 1: no sharding */
    const char *shard_status_file;
    const char *premature_exit_file;

    void *owned; /* what options_free releases */
};

/* Reads `environment` through getenv and then the arguments ([0] is skipped). Returns 0, or the
 * exit status to end with, and a sentence in `why` (empty when help is what is to be shown). */
int options_parse(struct options *options, int count, char *const *arguments, struct text *why);
void options_free(struct options *options);

/* The text of --help, in which `lessons`, a NULL-ended list of their names, are listed. */
void options_help(struct text *text, const char *const *lessons);

#endif
