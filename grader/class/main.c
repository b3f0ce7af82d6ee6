/* The grader: what ./grade hands over to. */
#include "grader/base/messages.h"
#include "grader/class/class.h"
#include "grader/lessons/table.h"

int main(int count, char **arguments)
{
    messages_begin(toolchain_configured()->catalogues);
    return class_main(toolchain_configured(), lesson_table, count, arguments);
}
