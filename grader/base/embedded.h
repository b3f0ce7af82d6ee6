/* embedded: texts that are compiled into the program, so that they are available wherever it runs:
 * files of the source tree, turned into strings by grader/CMakeLists.txt.
 */
#ifndef OVERLAP_GRADER_BASE_EMBEDDED_H
#define OVERLAP_GRADER_BASE_EMBEDDED_H

extern const char embedded_page_css[];
extern const char embedded_page_js[];
extern const char embedded_marks[];
extern const char embedded_grade_help[];
extern const char embedded_learn_help[];

#endif
