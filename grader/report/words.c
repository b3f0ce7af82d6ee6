#include "grader/report/kinds.h"

#include <stdio.h>
#include <string.h>

const char *record_name(const json_t *record)
{
    const char *name = json_text(json_object_get(record, "submission"), "name");
    return name[0] != '\0' ? name : "submission";
}

bool record_has_points(const json_t *record)
{
    return json_text(record, "trouble")[0] == '\0' && json_yes(record, "complete") &&
           json_array_size(json_list(record, "lessons")) > 0;
}

bool check_is_visible(const json_t *check)
{
    return strcmp(json_text(check, "visibility"), "visible") == 0;
}

static void add_paragraph(struct text *text, const char *label, const char *words)
{
    if (words[0] == '\0') return;
    text_format(text, "%s%s%s", label, words, words[strlen(words) - 1] == '\n' ? "" : "\n");
}

static void add_place(struct text *text, const json_t *failure)
{
    if (json_text(failure, "file")[0] == '\0') return;
    text_add(text, json_text(failure, "file"));
    if (json_number(failure, "line") > 0) text_format(text, ":%.0f", json_number(failure, "line"));
    text_add(text, ": ");
}

void check_words(const json_t *check, struct text *text)
{
    json_t *failures = json_list(check, "failures"), *failure;
    size_t i;

    json_array_foreach(failures, i, failure)
    {
        if (i > 0) text_add(text, "\n");
        add_place(text, failure);
        add_paragraph(text, "", json_text(failure, "what"));
        add_paragraph(text, "Why: ", json_text(failure, "why"));
        add_paragraph(text, "Hint: ", json_text(failure, "hint"));
        add_paragraph(text, "Seen: ", json_text(failure, "seen"));
    }
    add_paragraph(text, "Not judged: ", json_text(check, "reason"));
    add_paragraph(text, "Points: ", json_text(check, "why"));
}

bool check_is_blocked(const json_t *check)
{
    return json_text(check, "because")[0] != '\0';
}

void check_blocks(const json_t *lesson, const json_t *check, bool handed_out, struct text *text)
{
    const json_t *other;
    double score = 0, most = 0;
    size_t i, count = 0;

    json_array_foreach(json_list(lesson, "checks"), i, other)
    {
        if (strcmp(json_text(other, "because"), json_text(check, "name")) != 0) continue;
        if (handed_out && !check_is_visible(other)) continue;
        if (count++ == 0) {
            const bool named = !handed_out || check_is_visible(check);
            text_format(text, "Not judged, because %s failed: ",
                        named ? json_text(check, "name") : "a check that is not shown");
        }
        text_format(text, "%s%s", count > 1 ? ", " : "", json_text(other, "name"));
        score += json_number(other, "score");
        most += json_number(other, "max_score");
    }
    if (count == 0) return;
    text_add(text, " (");
    text_add_points(text, score);
    text_add(text, " of ");
    text_add_points(text, most);
    text_add(text, most == 1 ? " point)\n" : " points)\n");
}

void text_add_escaped(struct text *text, const char *string)
{
    static const struct {
        char byte;
        const char *entity;
    } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

    while (*string != '\0') {
        const size_t plain = strcspn(string, "<>&\"'");
        text_add_bytes(text, string, plain);
        string += plain;
        for (size_t i = 0; *string != '\0' && i < sizeof entities / sizeof entities[0]; i++)
            if (entities[i].byte == *string) text_add(text, entities[i].entity);
        string += *string != '\0';
    }
}

void text_add_points(struct text *text, double points)
{
    char number[64];
    snprintf(number, sizeof number, "%.2f", points);
    char *end = number + strlen(number);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') end[-1] = '\0';
    text_add(text, number);
}
