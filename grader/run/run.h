/* run: one run plan carried out once: inputs drawn, the runner started on lesson.so with the right
 * device, and what it left made into evidence.
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
    const char *shown_folder;      /* lives as long as the evidence */
    const struct sources *sources; /* of that library; lives as long as the evidence */
    enum drive_device device;
    const char *order;      /* emulator: OVERLAP_ORDER; NULL: the device's own default */
    const char *injection;  /* emulator: the call that fails (grader/evidence/injections.h) */
    bool injection_of_host; /* it is one of the C library */
    bool reference;
    uint64_t seed;   /* the grader's secret */
    unsigned repeat; /* inputs differ from repeat to repeat, and from round to round; submission and
                        reference get the same ones for the same number */
    double seconds_at_most;       /* instead of the plan's, if that is more; 0: the plan's */
    const struct run_plan *after; /* the run that did not end, for whose sake; NULL */
    unsigned rounds;              /* 0: one run; otherwise for run_make_in_turn */
};

/* Fills in the evidences (release each with evidence_release), however the runs end: whatever the
 * program does wrong is an ending. They are made a few at a time (up to four, a processor each) and
 * begin in their order, and none more when one has not ended well: evidences[0 .. *made) are filled
 * in. Returns 0, or -1: the machine had trouble, and evidences[0 .. *made) are to be released all
 * the same. */
int run_make_several(const struct run_request *requests, size_t count, struct evidence *evidences,
                     size_t *made, struct trouble *trouble);

/* The same for the processes of `turns` (count, pairs and threshold filled in), side by side, in
 * rounds, by turns. They have the GPU alone (gpu_lock.h) from their start to their last round. On
 * success each evidence is of a whole process; rounds_take (grader/evidence/rounds.h) takes it
 * apart. */
int run_make_in_turn(const struct run_request *requests, struct turns *turns,
                     struct evidence *evidences, struct trouble *trouble);

#endif
