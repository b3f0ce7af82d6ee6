/* readings: the lesson's text, its title, its questions, their answers: files that the student
 * reads, in the language that was chosen where there is one.
 */
#ifndef OVERLAP_GRADER_LEARN_READINGS_H
#define OVERLAP_GRADER_LEARN_READINGS_H

#include "grader/learn/guide.h"

/* The lesson in one line: what stands behind the colon of its text's heading. */
void readings_title(const struct guide *guide, size_t lesson, char *title, size_t size);
/* The name of its text in the lesson's folder. */
void readings_text_name(const struct guide *guide, size_t lesson, char *name, size_t size);
void readings_text_path(const struct guide *guide, size_t lesson, char path[PATH_MAX]);
void readings_answers_path(const struct guide *guide, size_t lesson, char path[PATH_MAX]);
/* The text's last section, which asks: a line a question, unwrapped. */
void readings_questions(const struct guide *guide, size_t lesson, struct text *questions);

#endif
