/* readings: a lesson's text, title, questions and answers, from files in the chosen language where
 * available.
 */
#ifndef OVERLAP_GRADER_LEARN_READINGS_H
#define OVERLAP_GRADER_LEARN_READINGS_H

#include "grader/learn/guide.h"

/* Returns the lesson's title: the text after the colon of its heading. */
void readings_title(const struct guide *guide, size_t lesson, char *title, size_t size);
/* Returns the name of the text in the lesson's folder. */
void readings_text_name(const struct guide *guide, size_t lesson, char *name, size_t size);
void readings_text_path(const struct guide *guide, size_t lesson, char path[PATH_MAX]);
void readings_answers_path(const struct guide *guide, size_t lesson, char path[PATH_MAX]);
/* Returns the text's last section, the questions: one unwrapped line per question. */
void readings_questions(const struct guide *guide, size_t lesson, struct text *questions);

#endif
