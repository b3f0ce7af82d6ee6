/* render CLASS.json KIND:FILE: makes a report of a hand-made class, for the tests that read reports
 * with other programs. */
#include "grader/report/report.h"

#include <stdio.h>

int main(int count, char **arguments)
{
    struct text why = {0};
    json_t *class = count == 3 ? json_read(arguments[1], (size_t)1 << 30) : NULL, *record;
    const char *values[] = {count == 3 ? arguments[2] : ""};
    struct reports *reports = class != NULL ? reports_open(values, 1, NULL, &why) : NULL;
    int result = 2;
    size_t i;

    if (reports != NULL) {
        json_array_foreach(json_list(class, "submissions"), i, record)
        {
            marks_apply(reports_marks(reports), record);
        }
        result = reports_write(reports, class, &why) == 0 ? 0 : 2;
    }
    if (result != 0) fprintf(stderr, "render: %s\n", text_string(&why));
    reports_close(reports);
    json_decref(class);
    text_free(&why);
    return result;
}
