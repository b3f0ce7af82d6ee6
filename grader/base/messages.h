/* messages: translation of the grader's messages (gettext). The language comes from OVERLAP_LANG
 * ("zh", "en"), else from the locale; without a catalogue it is English. Numbers have the same
 * format in all languages.
 *
 * The catalogues are po/<language>.po, compiled by the build where msgfmt is available.
 */
#ifndef OVERLAP_GRADER_BASE_MESSAGES_H
#define OVERLAP_GRADER_BASE_MESSAGES_H

#include <stdbool.h>

/* Marks a sentence for the catalogue and returns its translation. */
#define _(sentence) messages_get(sentence)
/* Marks a sentence for the catalogue; it is translated where it is shown. */
#define N_(sentence) sentence

/* Chooses the language. `catalogues`: the folder of <language>/LC_MESSAGES/overlap.mo. Call it
 * once, before anything is shown. */
void messages_begin(const char *catalogues);

/* Returns the sentence in the chosen language; "" stays "". */
const char *messages_get(const char *sentence) __attribute__((format_arg(1)));

/* Returns "zh_CN" when Chinese was chosen, else "". */
const char *messages_language(void);

/* Returns true when output may contain UTF-8. */
bool messages_utf8(void);

#endif
