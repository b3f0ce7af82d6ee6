#include "grader/base/json.h"
#include "grader/base/files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_put_text(json_t *object, const char *key, const char *text)
{
    struct text quoted = {0};

    if (text == NULL) text = "";
    text_add_quoted(&quoted, text, strlen(text));
    json_object_set_new(object, key, json_string(text_string(&quoted)));
    text_free(&quoted);
}

void json_put_count(json_t *object, const char *key, size_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

void json_put_number(json_t *object, const char *key, double number)
{
    const double rounded = round(number * 1000) / 1000;
    const bool whole = rounded == floor(rounded) && fabs(rounded) < 1e15;
    json_object_set_new(object, key,
                        whole ? json_integer((json_int_t)rounded) : json_real(rounded));
}

void json_put_bool(json_t *object, const char *key, bool yes)
{
    json_object_set_new(object, key, json_boolean(yes));
}

json_t *json_put_object(json_t *object, const char *key)
{
    json_t *value = json_object();
    return json_object_set_new(object, key, value) == 0 ? value : NULL;
}

json_t *json_put_array(json_t *object, const char *key)
{
    json_t *value = json_array();
    return json_object_set_new(object, key, value) == 0 ? value : NULL;
}

json_t *json_add_object(json_t *array)
{
    json_t *value = json_object();
    return json_array_append_new(array, value) == 0 ? value : NULL;
}

const char *json_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

double json_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

bool json_yes(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

json_t *json_list(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

json_t *json_find(const json_t *array, const char *key, const char *text)
{
    size_t i;
    json_t *entry;

    json_array_foreach(array, i, entry)
    {
        if (strcmp(json_text(entry, key), text) == 0) return entry;
    }
    return NULL;
}

json_t *json_read(const char *path, size_t limit)
{
    struct text text = {0};
    json_t *value = NULL;

    if (files_read(path, limit, &text) == 0)
        value = json_loadb(text_string(&text), text.size, 0, NULL);
    text_free(&text);
    return value;
}

int json_write(const char *path, const json_t *value)
{
    struct text text = {0};
    char *dump = json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    int result = -1;

    if (dump != NULL) {
        text_add(&text, dump);
        text_add(&text, "\n");
    }
    errno = ENOMEM;
    if (dump != NULL && !text.failed) result = files_replace(path, text_string(&text), text.size);
    free(dump);
    text_free(&text);
    return result;
}
