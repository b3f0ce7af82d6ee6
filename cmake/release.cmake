# A release: one archive with everything compiled, which runs wherever it is unpacked. What is left
# for cmake/setup.sh to find or install there is what the student's own files are compiled with.
#
#   cmake/release.sh            makes build-release/overlap-VERSION-linux-MACHINE.tar.gz
#   cmake --install BUILD --prefix DIR      the same tree, unpacked
#
# The tree is the repository's without our own sources and tests; what is compiled is in build/, as
# in a clone. Included after every room has declared its targets.

foreach(program grader learn)
    target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
    overlap_search_path(${program} "$ORIGIN/../libraries")
endforeach()

overlap_install_device(build)
install(TARGETS grader learn RUNTIME_DEPENDENCY_SET programs DESTINATION build/grader)
# The grader loads libarchive and does not link it (grader/class/archive.h): this does, so that it and
# what it needs are found with the others.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/loaded.c CONTENT "extern int loaded;\n")
add_library(loaded MODULE ${CMAKE_BINARY_DIR}/generated/loaded.c)
target_link_options(loaded PRIVATE -Wl,--no-as-needed)
target_link_libraries(loaded PRIVATE PkgConfig::ARCHIVE)
install(TARGETS loaded RUNTIME_DEPENDENCY_SET programs DESTINATION build/libraries)
install(TARGETS runner probe trace_dump DESTINATION build/grader)
install(TARGETS opencl_layer DESTINATION build/emulator/lib)
if(TARGET recorder)
    # CUPTI is the toolkit's: the library path of a run on a GPU has it.
    set_target_properties(recorder PROPERTIES INSTALL_RPATH "")
    install(TARGETS recorder DESTINATION build/recorder)
endif()
install(RUNTIME_DEPENDENCY_SET programs PRE_EXCLUDE_REGEXES ${OVERLAP_SYSTEM_LIBRARIES}
    DESTINATION build/libraries)

get_property(parts GLOBAL PROPERTY OVERLAP_PARTS)
get_property(gpu_parts GLOBAL PROPERTY OVERLAP_GPU_PARTS)
install(TARGETS ${parts} ${gpu_parts} DESTINATION build/grader/parts OPTIONAL)
install(DIRECTORY ${CMAKE_BINARY_DIR}/locale DESTINATION build)

# What setup.sh makes grader/toolchain of.
get_directory_property(GRADER_GENCODE DIRECTORY grader DEFINITION GRADER_GENCODE)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/release @ONLY
    CONTENT "gencode=@GRADER_GENCODE@\nsource=..\ncompiled_source=@CMAKE_SOURCE_DIR@\n")
install(FILES ${CMAKE_BINARY_DIR}/generated/release DESTINATION build)

install(PROGRAMS learn grade emulate DESTINATION .)
install(FILES README.md README.zh-CN.md LICENSE CHANGELOG.md DESTINATION .)
install(FILES cmake/setup.sh cmake/words.sh cmake/toolkit.txt cmake/wheel.cmake DESTINATION cmake)
install(DIRECTORY completions docs examples kernels lessons solutions DESTINATION .
    PATTERN "*.20*-*" EXCLUDE)
# The stubs, and what the student's files and drives include.
install(DIRECTORY grader/child grader/lessons DESTINATION grader FILES_MATCHING PATTERN "*.h"
    PATTERN "calls.cu" PATTERN "stub/*" REGEX "13_opencl/drive[.]c$")
install(FILES grader/learn/measure.sh DESTINATION grader/learn)

set(name overlap-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
add_custom_target(release
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${name}
    COMMAND ${CMAKE_COMMAND} --install . --strip --prefix ${CMAKE_BINARY_DIR}/${name}
    COMMAND ${CMAKE_COMMAND} -E tar czf ${name}.tar.gz ${name}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    DEPENDS grader learn loaded parts emulate stand_ins trace_dump gpu_parts)
