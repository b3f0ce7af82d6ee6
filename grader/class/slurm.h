/* slurm: hands a class to a cluster: `./grade --class=DIR --slurm`. It writes two batch scripts and
 * submits them with sbatch: an array job, each task of which grades its part of the class
 * (--part=K/N) into the state folder that all of them share, and a job behind it that grades what
 * the tasks left (a node died) and makes the reports. Both are the call that was made, on other
 * machines; Slurm's own settings come from sbatch's variables (SBATCH_PARTITION, ...).
 *
 * It does not wait for them and judges nothing. https://slurm.schedmd.com/sbatch.html
 */
#ifndef OVERLAP_GRADER_CLASS_SLURM_H
#define OVERLAP_GRADER_CLASS_SLURM_H

#include "grader/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct slurm_class {
    const char *program; /* the grader, by its whole path */
    const char *state;   /* the class's folder for results, by its whole path */
    int count;           /* of this call's arguments; [0] is not looked at */
    char *const *arguments;
    size_t parts;      /* tasks of the array */
    int jobs;          /* processors for each; 0: 2 */
    bool gpu;          /* ask for one in each task */
    bool gpu_if_there; /* ask for one if the cluster has any */
};

/* Returns 0 and says in `said` what was submitted, or 2 and why not. The scripts stay in the state
 * folder either way. */
int slurm_submit(const struct slurm_class *class, struct text *said);

#endif
