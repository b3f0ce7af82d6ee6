/* What the parts of lesson 14's judge share: one call of a run, with its arguments, its result and
 * its phase; and the checks, in the file that says what they are about. */
#ifndef OVERLAP_GRADER_LESSONS_14_DEVICES_PARTS_H
#define OVERLAP_GRADER_LESSONS_14_DEVICES_PARTS_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"
#include "grader/lessons/14_devices/exchange.h"
#include "grader/lessons/14_devices/stencil.h"

#define DEVICES_LINK_FUNCTION "devices_link"
#define DEVICES_STEPS_FUNCTION "devices_steps"

struct devices_view {
    const struct evidence *evidence;
    const struct devices_input *in;
    const struct devices_output *out;
    const struct devices_call *call;
    const struct devices_answer *given;
    uint32_t index;
    struct phase phase;
    struct answer answer; /* points to the phase: a view stays where it is */
};

/* Finds the next call of that kind, from *index on, and moves *index behind it. Returns false when
 * there is none, or when the verdict has failed because of it. */
bool devices_next(struct verdict *verdict, const struct evidence *evidence, enum devices_what what,
                  uint32_t *index, struct devices_view *view);

/* Returns true when all calls of the kind succeeded; otherwise the verdict fails in one line, for
 * checks that are about something else. */
bool devices_judgeable(struct verdict *verdict, const struct evidence *evidence,
                       enum devices_what what);

/* Names the call in a sentence: "devices 2, 0, 1", "7 x 90 cells and 4 steps on devices 2, 0, 1".
 */
#define DEVICES_WORDS 160
const char *devices_words(const struct devices_view *view, char words[DEVICES_WORDS]);

/* Returns true, and passes the evidence over, where the machine has one device only. */
bool devices_too_few(struct verdict *verdict, const struct evidence *evidence);

/* Returns the grid of a call. */
struct stencil_grid devices_grid(const struct devices_view *view);

/* link.c */
void devices_judge_linked(struct verdict *verdict, const struct evidence *evidence);
void devices_judge_nothing_else(struct verdict *verdict, const struct evidence *evidence);
void devices_judge_already(struct verdict *verdict, const struct evidence *evidence);
/* Returns true when what is enabled after the call is what was before, and what it was to enable.
 */
bool devices_linked_right(const struct devices_view *view);

/* bands.c */
void devices_judge_bands(struct verdict *verdict, const struct evidence *evidence);
void devices_judge_borders(struct verdict *verdict, const struct evidence *evidence);
void devices_judge_waits(struct verdict *verdict, const struct evidence *evidence);
void devices_judge_side_by_side(struct verdict *verdict, const struct evidence *evidence);

#endif
