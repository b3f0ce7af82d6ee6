#include "grader/evidence/phases.h"

bool phases_get(struct verdict *verdict, const struct evidence *evidence, const char *name,
                uint32_t index, struct phase *phase)
{
    if (evidence_phase(evidence, name, index, phase)) return true;
    verdict_fail(verdict, evidence, NULL,
                 "The record of the run lacks the phase \"%s\" (%u), which is always there.", name,
                 (unsigned)index);
    verdict_why(verdict, "Something wrote over the record of what the program did.");
    verdict_hint(verdict, "Look for a write through a pointer that was not initialised.");
    return false;
}
