/* messages: the language in which people are spoken to (gettext). The language comes from
 * OVERLAP_LANG ("zh", "en"), else from the locale; without a catalogue it is English. Numbers are
 * written the same in all of them.
 *
 * The catalogues are po/<language>.po, compiled by the build where msgfmt is there.
 */
#ifndef OVERLAP_GRADER_BASE_MESSAGES_H
#define OVERLAP_GRADER_BASE_MESSAGES_H

#include <stdbool.h>

/* Marks a sentence for the catalogue and gives its translation. */
#define _(sentence) messages_get(sentence)
/* Marks a sentence that is translated where it is shown. */
#define N_(sentence) sentence

/* Chooses the language; `catalogues`: the folder of <language>/LC_MESSAGES/overlap.mo. Call it
 * once, before anything is shown. */
void messages_begin(const char *catalogues);

/* The sentence in the chosen language; an empty one stays empty. */
const char *messages_get(const char *sentence) __attribute__((format_arg(1)));

/* "zh_CN" when Chinese was chosen, else "". */
const char *messages_language(void);

/* What is printed may hold UTF-8. */
bool messages_utf8(void);

#endif
