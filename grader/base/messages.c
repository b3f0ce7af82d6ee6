#include "grader/base/messages.h"

#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define DOMAIN "overlap"

static const char *language = "";

/* Returns the value of the first of these variables that is set and not empty, or "". */
static const char *first_set(const char *const *names)
{
    for (; *names != NULL; names++) {
        const char *value = getenv(*names);
        if (value != NULL && value[0] != '\0') return value;
    }
    return "";
}

static bool names_utf8(const char *locale)
{
    return strstr(locale, "UTF-8") != NULL || strstr(locale, "utf8") != NULL ||
           strstr(locale, "utf-8") != NULL || strstr(locale, "UTF8") != NULL;
}

void messages_begin(const char *catalogues)
{
    static const char *const types[] = {"LC_ALL", "LC_CTYPE", "LANG", NULL};
    static const char *const languages[] = {"OVERLAP_LANG", "LC_ALL", "LC_MESSAGES", "LANG", NULL};
    const char *asked = getenv("OVERLAP_LANG");

    /* A locale that is named but not installed still says what the terminal can show; a user who
     * asks for Chinese is assumed to have a terminal that shows it. */
    if (setlocale(LC_CTYPE, "") == NULL && names_utf8(first_set(types)))
        setlocale(LC_CTYPE, "C.UTF-8");
    if (asked != NULL && strncmp(asked, "zh", 2) == 0 && !messages_utf8())
        setlocale(LC_CTYPE, "C.UTF-8");
    if (strncmp(first_set(languages), "zh", 2) != 0 || !messages_utf8()) return;
    /* gettext translates nothing in the locale "C"; in any other it uses LANGUAGE. C.UTF-8 is
     * always installed. */
    if (setlocale(LC_MESSAGES, "C.UTF-8") == NULL) return;
    setenv("LANGUAGE", "zh_CN", 1);
    bindtextdomain(DOMAIN, catalogues);
    bind_textdomain_codeset(DOMAIN, "UTF-8");
    textdomain(DOMAIN);
    language = "zh_CN";
}

const char *messages_get(const char *sentence)
{
    /* For gettext the empty sentence is the catalogue's header. */
    return language[0] == '\0' || sentence[0] == '\0' ? sentence : gettext(sentence);
}

const char *messages_language(void)
{
    return language;
}

bool messages_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
