#include "grader/lessons/13_opencl/listed.h"
#include "grader/evidence/answer.h"
#include "grader/lessons/13_opencl/exchange.h"
#include "grader/lessons/13_opencl/words.h"
#include "opencl/layer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The setting that describes one device, split at its tabs. */
enum part { PLATFORM, NAME, VERSION, TYPE, UNITS, GROUP, MEMORY, LOCAL, PARTS };
struct described {
    char text[TRACE_TEXT_SIZE];
    const char *parts[PARTS];
};

static bool describe(const struct evidence *evidence, uint32_t number, struct described *to)
{
    char key[64], *rest = NULL;
    snprintf(key, sizeof key, OPENCL_DEVICE_SETTING, number);
    const char *text = evidence_setting(evidence, key);
    if (text == NULL) return false;
    snprintf(to->text, sizeof to->text, "%s", text);
    char *at = to->text;
    for (int i = 0; i < PARTS; i++) {
        to->parts[i] = at;
        rest = strchr(at, '\t');
        if (rest == NULL) return i == PARTS - 1;
        *rest = '\0';
        at = rest + 1;
    }
    return true;
}

static uint32_t number_of(const struct evidence *evidence, const char *setting)
{
    const char *text = evidence_setting(evidence, setting);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static void say(struct verdict *verdict, const struct evidence *evidence, uint32_t number,
                const char *field, const char *found, const char *wanted)
{
    verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_DEVICES,
                    "%s of device %u is \"%s\", and OpenCL says \"%s\".", field, number, found,
                    wanted);
    verdict_why(verdict, "What a program knows of a device decides how it uses it.");
    verdict_hint(verdict,
                 "Each field has a query of its own, and a type: clGetDeviceInfo writes as "
                 "many bytes as that type has, and returns an error where there is less "
                 "room.");
}

static bool text_agrees(struct verdict *verdict, const struct evidence *evidence, uint32_t number,
                        const char *field, const char *found, const char *wanted)
{
    char text[OPENCL_TEXT_SIZE + 1];
    snprintf(text, sizeof text, "%.*s", OPENCL_TEXT_SIZE, found);
    if (strncmp(text, wanted, OPENCL_TEXT_SIZE - 1) == 0) return true;
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~') *at = '?';
    say(verdict, evidence, number, field, text, wanted);
    return false;
}

static bool number_agrees(struct verdict *verdict, const struct evidence *evidence, uint32_t number,
                          const char *field, uint64_t found, const char *wanted)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, found);
    if (strcmp(text, wanted) == 0) return true;
    say(verdict, evidence, number, field, text, wanted);
    return false;
}

static bool device_agrees(struct verdict *verdict, const struct evidence *evidence, uint32_t number,
                          const struct opencl_told *told)
{
    struct described is;
    if (!describe(evidence, number, &is)) {
        verdict_skip(verdict, "the record does not say what OpenCL says of its devices");
        return false;
    }
    if (!text_agrees(verdict, evidence, number, "platform", told->platform, is.parts[PLATFORM]) ||
        !text_agrees(verdict, evidence, number, "name", told->name, is.parts[NAME]) ||
        !text_agrees(verdict, evidence, number, "version", told->version, is.parts[VERSION]) ||
        !number_agrees(verdict, evidence, number, "type", told->type, is.parts[TYPE]) ||
        !number_agrees(verdict, evidence, number, "units", told->units, is.parts[UNITS]) ||
        !number_agrees(verdict, evidence, number, "group", told->group, is.parts[GROUP]) ||
        !number_agrees(verdict, evidence, number, "memory", told->memory, is.parts[MEMORY]) ||
        !number_agrees(verdict, evidence, number, "local", told->local, is.parts[LOCAL]))
        return false;
    if (told->has_id == 1) return true;
    verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_DEVICES,
                    "id of device %u is another device's, or none.", number);
    verdict_why(verdict, "The handle is what every later call is given.");
    verdict_hint(verdict, "Keep what clGetDeviceIDs wrote, in its order.");
    return false;
}

/* Checks call `i`; `there` is the number of devices. */
static bool call_agrees(struct verdict *verdict, const struct evidence *evidence, uint32_t i,
                        uint32_t there)
{
    const struct opencl_input *in = evidence->input;
    const struct opencl_output *out = evidence->output;
    const struct opencl_listed *listed = &out->listed[i];
    const uint32_t room = in->rooms[i], kept = there < room ? there : room;
    struct phase phase;
    char text[80];
    const struct answer answer =
        answer_in(evidence, OPENCL_PHASE_DEVICES, i, OPENCL_FUNCTION_DEVICES, ANSWER_RUNTIME,
                  listed->code, &phase);

    snprintf(text, sizeof text, _("%u devices, and room for %u"), there, room);
    if (!answer_succeeded(verdict, &answer, text)) return false;
    if (listed->count != there) {
        verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_DEVICES,
                        "*count is %u, and there are %u devices on %u platforms; there was room "
                        "for %u.",
                        listed->count, there, number_of(evidence, OPENCL_PLATFORMS_SETTING), room);
        verdict_why(verdict, "*count says how many there are: who had too little room learns how "
                             "much to bring.");
        verdict_hint(verdict, "clGetDeviceIDs tells each platform's number; add them up, whatever "
                              "the room.");
        return false;
    }
    if (listed->beyond != 0) {
        verdict_fail_in(verdict, evidence, OPENCL_FUNCTION_DEVICES,
                        "There was room for %u devices, and %u bytes behind it were written.", room,
                        listed->beyond);
        verdict_why(verdict, "The memory behind the array is somebody else's.");
        verdict_hint(verdict, "Describe a device only where its number is below room.");
        return false;
    }
    for (uint32_t d = 0; d < kept && d < OPENCL_MOST; d++)
        if (!device_agrees(verdict, evidence, d, &listed->told[d])) return false;
    return true;
}

void listed_judge_devices(struct verdict *verdict, const struct evidence *evidence)
{
    const uint32_t there = number_of(evidence, OPENCL_COUNT_SETTING);
    for (uint32_t i = 0; i < OPENCL_CALLS; i++)
        if (!call_agrees(verdict, evidence, i, there)) return;
    verdict_figure(verdict, "devices", "%u devices of OpenCL", there);
}

void listed_judge_none(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < OPENCL_CALLS; i++)
        if (!call_agrees(verdict, evidence, i, 0)) return;
}
