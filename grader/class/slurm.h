/* slurm: submits the grading of a class to a cluster: `./grade --class=DIR --slurm`. It writes two
 * batch scripts and submits them with sbatch: an array job, each task of which grades its part of
 * the class (--part=K/N) into a shared state folder, and a job after it that grades what the tasks
 * left (a node died) and makes the reports. Both run the same command line on other machines;
 * Slurm's own settings come from sbatch's variables (SBATCH_PARTITION, ...).
 *
 * It does not wait for the jobs and judges nothing. https://slurm.schedmd.com/sbatch.html
 */
#ifndef OVERLAP_GRADER_CLASS_SLURM_H
#define OVERLAP_GRADER_CLASS_SLURM_H

#include "grader/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct slurm_class {
    const char *program; /* absolute path of the grader */
    const char *state;   /* absolute path of the class's state folder */
    int count;           /* number of this call's arguments; [0] is skipped */
    char *const *arguments;
    size_t parts;      /* tasks of the array */
    int jobs;          /* processors per task; 0: 2 */
    bool gpu;          /* request a GPU for each task */
    bool gpu_if_there; /* request a GPU if the cluster has any */
};

/* Returns 0 with the submitted jobs in `said`, or 2 with the reason. The scripts stay in the state
 * folder in either case. */
int slurm_submit(const struct slurm_class *class, struct text *said);

#endif
