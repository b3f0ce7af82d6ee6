/* options: the grader's command line and the environment variables that stand in for it.
 *
 * Words are lessons; the grader's own flags have plain names; flags that begin with --gtest_ behave
 * as GoogleTest's do, with one exception: an unknown flag, and a filter that matches nothing, end
 * with status 2, because a mistake must not look like a pass. session/help.txt is the text of
 * --help.
 */
#ifndef OVERLAP_GRADER_SESSION_OPTIONS_H
#define OVERLAP_GRADER_SESSION_OPTIONS_H

#include "grader/base/text.h"
#include "grader/run/cache.h"

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_MOST_JOBS 512
#define OPTIONS_MOST_PARTS 1000 /* Slurm's own limit on an array is 1001 by default */

/* What to do where the machine cannot contain a submission as far as the grader would like. */
enum options_sandbox {
    SANDBOX_AUTO,    /* print a warning and go on */
    SANDBOX_REQUIRE, /* end with status 2 */
    SANDBOX_OFF,     /* contain nothing: for users who debug their own program */
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
    unsigned random_orders; /* number of random orders for runs in every order */
    const char **reports;   /* --report, as typed */
    size_t report_count;
    const char *timeline; /* NULL: none is drawn; "": in the terminal; otherwise the file's path */
    const char *marks;    /* a table of points; NULL: the grader's own */
    bool help;
    bool version;

    /* Options of a class (grader/class); unused where `class` is NULL. */
    const char *class; /* the folder with the submissions; NULL: no class */
    int jobs; /* submissions of a class, or lessons of one submission, graded side by side; 0: not
                 given */
    const char *roster;
    const char *state; /* where results are kept; NULL: beside the class's folder */
    bool again;        /* also grade submissions that have not changed */
    bool slurm;        /* submit the grading to a Slurm cluster, */
    int slurm_tasks;   /* in this many parts; 0: chosen by the size of the class */
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

    void *owned; /* allocations that options_free releases */
};

/* Reads the environment (getenv) and then the arguments ([0] is skipped). Returns 0, or the exit
 * status to end with and a sentence in `why` (empty when the help text is to be shown). */
int options_parse(struct options *options, int count, char *const *arguments, struct text *why);
void options_free(struct options *options);

/* Appends the text of --help. `lessons` is a NULL-ended list of their names. */
void options_help(struct text *text, const char *const *lessons);

#endif
