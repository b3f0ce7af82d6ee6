/* The grader: what ./grade hands over to. */
#include "grader/lessons/table.h"
#include "grader/session/session.h"

int main(int count, char **arguments)
{
    return session_main(toolchain_configured(), lesson_table, count, arguments);
}
