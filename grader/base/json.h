/* json: short names for what the reports do with jansson: objects filled key by key, in that order,
 * and read with an answer for what is missing. Text is put in quoted (text.h), so that it is always
 * valid UTF-8 whatever a student wrote.
 *
 * A value that is put into another belongs to it. Where memory runs out a value stays out; every
 * function takes NULL for a value that is not there.
 */
#ifndef OVERLAP_GRADER_BASE_JSON_H
#define OVERLAP_GRADER_BASE_JSON_H

#include "grader/base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

void json_put_text(json_t *object, const char *key, const char *text);
void json_put_count(json_t *object, const char *key, size_t count);
/* Whole numbers without a point, others to three places. */
void json_put_number(json_t *object, const char *key, double number);
void json_put_bool(json_t *object, const char *key, bool yes);
/* New and empty ones; they belong to `object`, or to the array. */
json_t *json_put_object(json_t *object, const char *key);
json_t *json_put_array(json_t *object, const char *key);
json_t *json_add_object(json_t *array);

/* "", 0, false and NULL where there is nothing of the kind. */
const char *json_text(const json_t *object, const char *key);
double json_number(const json_t *object, const char *key);
bool json_yes(const json_t *object, const char *key);
json_t *json_list(const json_t *object, const char *key);
/* The entry of an array whose `key` is `text`, or NULL. */
json_t *json_find(const json_t *array, const char *key, const char *text);

/* The file as JSON, or NULL: not there, longer than `limit` bytes, or no JSON. */
json_t *json_read(const char *path, size_t limit);
/* Writes it with files_replace. Returns 0, or -1 with errno. */
int json_write(const char *path, const json_t *value);

#endif
