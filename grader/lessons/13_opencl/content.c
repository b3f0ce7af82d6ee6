#include "grader/lessons/13_opencl/content.h"
#include "grader/lessons/13_opencl/words.h"
#include "opencl/layer.h"

#include <string.h>

typedef unsigned long long wide;

static uint64_t content_of(const float *values, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        sum += opencl_content(word);
    }
    return sum;
}

/* The copies of one direction. */
struct copied {
    uint64_t bytes, content;
    bool known; /* all contents are known, and no kernel works in the host's own memory */
    bool has;   /* one of them is the array that was searched for */
    const struct trace_record *last, *which;
};

static struct copied look(const struct evidence *evidence, const struct phase *phase, bool back,
                          uint64_t bytes, uint64_t content)
{
    const struct query all = {
        .phase = phase, .kind = TRACE_OPERATION, .what = TRACE_COPY, .student = true};
    struct copied found = {.known = true};

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &all, r)) != NULL;) {
        if (strncmp(r->name, OPENCL_USED, sizeof r->name) == 0) found.known = false;
        if (back ? r->to != TRACE_PAGEABLE : r->from != TRACE_PAGEABLE) continue;
        if (r->count == 0) found.known = false;
        if (r->bytes == bytes && r->count == content) {
            found.has = true;
            found.which = r;
        }
        found.bytes += r->bytes;
        found.content += r->count;
        found.last = r;
    }
    return found;
}

bool content_is_the_devices(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase, const float *sums, uint32_t count)
{
    const uint64_t bytes = (uint64_t)count * sizeof *sums, content = content_of(sums, count);
    const struct copied in = look(evidence, phase, false, bytes, content);
    const struct copied out = look(evidence, phase, true, bytes, content);

    if (in.has)
        verdict_fail(verdict, evidence, in.which, "The sums themselves are copied to the device.");
    else if (out.known && out.bytes < bytes)
        verdict_fail(verdict, evidence, out.last,
                     "The sums are right, but only %llu of their %llu bytes came back from the "
                     "device.",
                     (wide)out.bytes, (wide)bytes);
    else if (out.known && out.bytes == bytes && out.content != content)
        verdict_fail(verdict, evidence, out.last,
                     "The sums are right, but what came back from the device is something else.");
    else
        return true;
    verdict_why(verdict, "What the host has computed says nothing about the device.");
    verdict_hint(verdict, "Let the kernel store the sums in a buffer, and read that one.");
    return false;
}

bool content_came(const struct evidence *evidence, const struct phase *phase, const float *sums,
                  uint32_t count)
{
    const uint64_t bytes = (uint64_t)count * sizeof *sums, content = content_of(sums, count);
    const struct copied out = look(evidence, phase, true, bytes, content);
    return out.known && out.bytes == bytes && out.content == content;
}

bool content_is_given(struct verdict *verdict, const struct evidence *evidence,
                      const struct phase *phase, const float *arrays, uint32_t count)
{
    const uint64_t bytes = (uint64_t)2 * count * sizeof *arrays;
    const uint64_t content = content_of(arrays, (size_t)2 * count);
    const struct copied in = look(evidence, phase, false, bytes, content);

    if (!in.known || in.bytes != bytes || in.content == content) return true;
    verdict_fail(verdict, evidence, in.last,
                 "As many bytes go to the device as a and b have, but they are not a and b.");
    verdict_why(verdict, "The device is to do the additions, with the numbers that were given.");
    verdict_hint(verdict, "a and b go to the device and the sums come back, each once, with sizes "
                          "in bytes.");
    return false;
}
