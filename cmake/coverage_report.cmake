# The work of the target coverage: forget old counts, run every test, report on the rooms that the
# project promises to cover. Fails, after the report, if a test failed.
# Writes ${BUILD}/coverage/index.html and coverage.txt.

file(GLOB_RECURSE counts ${BUILD}/*.gcda)
if(counts)
    file(REMOVE ${counts})
endif()
find_program(GCOVR gcovr)
if(NOT GCOVR)
    message(FATAL_ERROR "gcovr is missing: apt-get install gcovr")
endif()

cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${BUILD} -j ${cores} --output-on-failure
    --no-tests=error RESULT_VARIABLE tests_failed)

file(MAKE_DIRECTORY ${BUILD}/coverage)
execute_process(COMMAND ${GCOVR} --root ${SOURCE} --filter ${SOURCE}/grader/
    --filter ${SOURCE}/emulator/ --exclude-unreachable-branches --print-summary
    --txt ${BUILD}/coverage/coverage.txt --html-details ${BUILD}/coverage/index.html ${BUILD}
    OUTPUT_VARIABLE summary RESULT_VARIABLE report_failed)
if(report_failed)
    message(FATAL_ERROR "gcovr failed; its message is above")
endif()
file(READ ${BUILD}/coverage/coverage.txt table)
message("${table}${summary}${BUILD}/coverage/index.html has it line by line")
if(tests_failed)
    message(FATAL_ERROR "a test failed, so these figures are too low; its output is above")
endif()
