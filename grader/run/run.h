/* run: carries out one run plan once: draws the inputs, starts the runner on lesson.so with the
 * right device, and makes evidence of what it left behind.
 */
#ifndef OVERLAP_GRADER_RUN_RUN_H
#define OVERLAP_GRADER_RUN_RUN_H

#include "grader/base/trouble.h"
#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"
#include "grader/run/turns.h"

struct run_request {
    const struct toolchain *toolchain;
    const struct lesson *lesson;
    const struct run_plan *plan;
    const char *library;           /* lesson.so */
    const char *shown_folder;      /* must live as long as the evidence */
    const struct sources *sources; /* of that library; must live as long as the evidence */
    enum drive_device device;
    unsigned gpus;          /* how many the program sees */
    const char *order;      /* emulator: OVERLAP_ORDER; NULL: the device's default */
    const char *injection;  /* emulator: the call that fails (grader/evidence/injections.h) */
    bool injection_of_host; /* the call is one of the C library */
    bool reference;
    uint64_t seed;   /* the grader's secret */
    unsigned repeat; /* inputs differ from repeat to repeat and from round to round; for the same
                        number the submission and the reference get the same inputs */
    double seconds_at_most; /* limit if less than the plan's; 0: the plan's */
    /* The run that did not end, because of which this one is limited; NULL. */
    const struct run_plan *after;
    unsigned rounds; /* 0: one run; otherwise the number of rounds, for run_make_in_turn */
};

/* Makes the runs and fills in the evidences (release each with evidence_release). An error of the
 * program is an ending, not an error here. Up to four runs are made at a time, a processor each;
 * they begin in order, and no further one begins after one that did not end well: evidences[0 ..
 * *made) are filled in. Returns 0, or -1: the machine had trouble; evidences[0 .. *made) must be
 * released all the same. */
int run_make_several(const struct run_request *requests, size_t count, struct evidence *evidences,
                     size_t *made, struct trouble *trouble);

/* As run_make_several, for the processes of `turns` (with count, pairs and threshold filled in),
 * which take turns in rounds. The processes have the GPU alone (gpu_lock.h) from their start to
 * their last round. On success each evidence is of a whole process; rounds_take
 * (grader/evidence/rounds.h) splits it. */
int run_make_in_turn(const struct run_request *requests, struct turns *turns,
                     struct evidence *evidences, struct trouble *trouble);

#endif
