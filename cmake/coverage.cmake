# What the preset coverage adds: gcov's counters in all our C code, kept also when a process ends
# otherwise than by returning from main, and the target `coverage`: run the tests, report.

# Not --coverage: what is linked into a submission (cmake/lesson.cmake) takes these back with their
# -fno- forms, and --coverage has none.
add_compile_options(
    "$<$<COMPILE_LANGUAGE:C>:-fprofile-arcs;-ftest-coverage;-fprofile-update=atomic>")
# libgcov would otherwise be seen among what the software device exports.
add_link_options("$<HOST_LINK:--coverage;LINKER:--exclude-libs=libgcov.a>")

# Every program and every shared library has counters of its own, and loses them in _exit(),
# abort() and a fatal raise(). coverage_exit.c stands before those three and writes them out.
# What ends by SIGKILL, or by a signal nobody handles, is still lost.
add_library(overlap_coverage_exit STATIC ${CMAKE_CURRENT_LIST_DIR}/coverage_exit.c)
target_compile_options(overlap_coverage_exit PRIVATE -fno-profile-arcs -fno-test-coverage)
target_link_options(overlap_coverage_exit INTERFACE "$<HOST_LINK:LINKER:--wrap=_exit;\
LINKER:--wrap=abort;LINKER:--wrap=raise;LINKER:--undefined=__wrap_abort>")
link_libraries(overlap_coverage_exit)

add_custom_target(coverage
    COMMAND ${CMAKE_COMMAND} -D BUILD=${CMAKE_BINARY_DIR} -D SOURCE=${CMAKE_SOURCE_DIR}
        -P ${CMAKE_CURRENT_LIST_DIR}/coverage_report.cmake
    USES_TERMINAL
    COMMENT "Running the tests and counting what they reach")
