#include "grader/class/slurm.h"
#include "grader/base/files.h"
#include "grader/class/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CPUS 2
#define SBATCH_SECONDS 120 /* a busy controller answers late */
#define ANSWER_LIMIT 4096

extern char **environ;

/* ---- the scripts ------------------------------------------------------------------------ */

static void add_word(struct text *script, const char *word)
{
    text_add(script, " ");
    text_add_shell_word(script, word);
}

/* Returns true when the argument is the flag; *value_next is set when its value is the next
 * argument. */
static bool is_flag(const char *argument, const char *name, bool *value_next)
{
    const size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0) return false;
    *value_next = argument[length] == '\0';
    return argument[length] == '\0' || argument[length] == '=';
}

/* Appends this call's command line without --slurm, and for a part without the flags for
 * reports. */
static void add_call(struct text *script, const struct slurm_class *class, bool part)
{
    add_word(script, class->program);
    for (int i = 1; i < class->count; i++) {
        bool value_next = false;
        if (strcmp(class->arguments[i], "--slurm") == 0) continue;
        if (is_flag(class->arguments[i], "--slurm-tasks", &value_next) ||
            (part && is_flag(class->arguments[i], "--report", &value_next))) {
            if (value_next) i++;
            continue;
        }
        add_word(script, class->arguments[i]);
    }
    add_word(script, "--state");
    add_word(script, class->state);
    if (part) text_format(script, " --part=\"$SLURM_ARRAY_TASK_ID/%zu\"", class->parts);
    text_add(script, " --jobs=\"$SLURM_CPUS_PER_TASK\"\n");
}

/* sbatch reads #SBATCH lines up to the first command. */
static void make_script(struct text *script, const struct slurm_class *class, bool part, bool gpu)
{
    text_format(script, "#!/bin/sh\n#SBATCH --job-name=%s\n#SBATCH --cpus-per-task=%d\n",
                part ? "overlap" : "overlap-reports", class->jobs > 0 ? class->jobs : CPUS);
    /* A task whose node died is started again, and finds what it has already graded. */
    text_add(script, "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    if (part) text_format(script, "#SBATCH --array=0-%zu\n", class->parts - 1);
    if (gpu) text_add(script, "#SBATCH --gres=gpu:1\n");
    text_add(script, "exec");
    add_call(script, class, part);
}

static int write_script(const struct slurm_class *class, bool part, bool gpu, char path[PATH_MAX],
                        struct text *said)
{
    struct text script = {0};

    snprintf(path, PATH_MAX, "%s/slurm/%s.sh", class->state, part ? "parts" : "reports");
    make_script(&script, class, part, gpu);
    const mode_t before = umask(077); /* a seed is the instructor's secret */
    int result = script.failed ? -1 : files_replace(path, script.data, script.size);
    umask(before);
    if (result != 0) text_format(said, "%s cannot be written: %s", path, strerror(errno));
    text_free(&script);
    return result == 0 ? 0 : 2;
}

/* ---- the cluster ------------------------------------------------------------------------ */

/* Runs one of Slurm's programs and collects its output. Returns 0, or -1 with a sentence. */
static int ask(const char *const *arguments, struct text *answer, struct text *why)
{
    const struct process_spec spec = {
        .arguments = arguments,
        .environment = (const char *const *)environ,
        .folder = ".",
        .limits = {.seconds = SBATCH_SECONDS, .output = ANSWER_LIMIT},
    };
    return tool_run(&spec, "does not take it", answer, why) == TOOL_DONE ? 0 : -1;
}

static bool find_program(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");

    for (size_t length; at != NULL && *at != '\0'; at += length + (at[length] == ':')) {
        length = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);
        if (length > 0 && access(path, X_OK) == 0) return true;
    }
    return false;
}

/* Returns true when a node has a GPU, by sinfo's list of generic resources ("gpu:h100:4"). */
static bool has_gpus(void)
{
    char program[PATH_MAX];
    struct text answer = {0}, why = {0};

    if (!find_program("sinfo", program)) return false;
    const char *const arguments[] = {program, "--noheader", "--format=%G", NULL};
    const bool has =
        ask(arguments, &answer, &why) == 0 && strstr(text_string(&answer), "gpu") != NULL;
    text_free(&answer);
    text_free(&why);
    return has;
}

/* Submits a script, to run after job `after` if that is not 0. Returns the job's number, or 0. */
static unsigned long submit(const char *sbatch, const struct slurm_class *class, const char *script,
                            unsigned long after, struct text *said)
{
    char output[PATH_MAX + 32], dependency[64];
    const char *arguments[8] = {sbatch, "--parsable", output};
    struct text answer = {0};
    size_t count = 3;
    unsigned long job = 0;

    snprintf(output, sizeof output, "--output=%s/slurm/%s", class->state,
             after == 0 ? "%A_%a.txt" : "%j.txt");
    snprintf(dependency, sizeof dependency, "--dependency=afterany:%lu", after);
    if (after != 0) arguments[count++] = dependency;
    arguments[count++] = script;
    if (ask(arguments, &answer, said) == 0) {
        job = strtoul(text_string(&answer), NULL, 10);
        if (job == 0) {
            text_add(said, "sbatch names no job: ");
            text_add_quoted(said, text_string(&answer), answer.size);
        }
    }
    text_free(&answer);
    return job;
}

int slurm_submit(const struct slurm_class *class, struct text *said)
{
    char sbatch[PATH_MAX], folder[PATH_MAX], parts[PATH_MAX], reports[PATH_MAX];
    const bool here = find_program("sbatch", sbatch);
    const bool gpu = class->gpu || (class->gpu_if_there && here && has_gpus());

    snprintf(folder, sizeof folder, "%s/slurm", class->state);
    if (files_make_folders(folder) != 0) {
        text_format(said, "%s cannot be made: %s", folder, strerror(errno));
        return 2;
    }
    if (write_script(class, true, gpu, parts, said) != 0) return 2;
    if (write_script(class, false, gpu, reports, said) != 0) return 2;
    if (!here) {
        text_format(said,
                    "there is no sbatch on PATH. Where there is: sbatch %s, and when that has "
                    "ended, sbatch %s",
                    parts, reports);
        return 2;
    }
    const unsigned long array = submit(sbatch, class, parts, 0, said);
    if (array == 0) return 2;
    const unsigned long last = submit(sbatch, class, reports, array, said);
    if (last == 0) {
        text_format(said, ". The class is graded by job %lu all the same; then: sbatch %s", array,
                    reports);
        return 2;
    }
    text_format(said,
                "Job %lu grades in %zu part%s%s; job %lu makes the reports when all have ended. "
                "squeue shows them, and what they print is in %s.\n",
                array, class->parts, class->parts == 1 ? "" : "s",
                gpu ? ", with a GPU for each" : "", last, folder);
    return 0;
}
