/* embedded: texts that the program carries in itself, so that it finds them wherever it runs: files
 * of the source tree, turned into byte arrays by grader/CMakeLists.txt. Each is ended by a 0.
 */
#ifndef OVERLAP_GRADER_BASE_EMBEDDED_H
#define OVERLAP_GRADER_BASE_EMBEDDED_H

extern const char embedded_report_page_css[];
extern const char embedded_report_page_js[];
extern const char embedded_report_marks_txt[];
extern const char embedded_session_help_txt[];

#endif
