/* The grader: what ./grade hands over to. */
#include "grader/base/messages.h"
#include "grader/lessons/table.h"
#include "grader/session/session.h"

int main(int count, char **arguments)
{
    messages_begin(toolchain_configured()->catalogues);
    return session_main(toolchain_configured(), lesson_table, count, arguments);
}
