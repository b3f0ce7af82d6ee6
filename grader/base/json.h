/* json: short names for the reports' use of jansson: objects filled key by key, in that order, and
 * readers that return a default for a missing key. Text is quoted when it is stored (text.h), so
 * that it is valid UTF-8 whatever a student wrote.
 *
 * A value that is put into another is owned by it. Where memory runs out a value is left out; every
 * function accepts NULL as a missing value.
 */
#ifndef OVERLAP_GRADER_BASE_JSON_H
#define OVERLAP_GRADER_BASE_JSON_H

#include "grader/base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

void json_put_text(json_t *object, const char *key, const char *text);
void json_put_count(json_t *object, const char *key, size_t count);
/* Whole numbers without a decimal point, others with three decimals. */
void json_put_number(json_t *object, const char *key, double number);
void json_put_bool(json_t *object, const char *key, bool yes);
/* Each returns a new, empty value, owned by `object` or by the array. */
json_t *json_put_object(json_t *object, const char *key);
json_t *json_put_array(json_t *object, const char *key);
json_t *json_add_object(json_t *array);

/* Return "", 0, false or NULL where the key is missing or of another type. */
const char *json_text(const json_t *object, const char *key);
double json_number(const json_t *object, const char *key);
bool json_yes(const json_t *object, const char *key);
json_t *json_list(const json_t *object, const char *key);
/* Returns the entry of an array whose `key` is `text`, or NULL. */
json_t *json_find(const json_t *array, const char *key, const char *text);

/* Returns the file as JSON, or NULL: missing, longer than `limit` bytes, or not JSON. */
json_t *json_read(const char *path, size_t limit);
/* Writes it with files_replace. Returns 0, or -1 with errno. */
int json_write(const char *path, const json_t *value);

#endif
