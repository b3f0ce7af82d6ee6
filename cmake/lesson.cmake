# How a lesson's pieces are declared. grader/lessons/NN_name/CMakeLists.txt says
#
#   include(lesson)
#   overlap_lesson(02_streams JUDGE judge.c DRIVE drive.c)
#
# and kernels/CMakeLists.txt
#
#   include(lesson)
#   overlap_part(multi_kernel SOURCES multi_kernel.cu)
#
# A part is a static library that the grader links into lesson.so next to the student's objects. It
# is built as the student's code is: -g, and never with a sanitizer, so that the same lesson.so runs with
# every build type. Its PTX is for compute_75, a student's for compute_80 (grader/CMakeLists.txt).
include_guard()

if(NOT DEFINED OVERLAP_CUDA_ARCHITECTURES)
    set(OVERLAP_CUDA_ARCHITECTURES 75-virtual)
endif()
set(OVERLAP_PARTS_DIRECTORY ${CMAKE_BINARY_DIR}/grader/parts)

# overlap_include(TARGET dir ...)
# Folders of the tree for its include path, named from the folder that ninja runs in: nvcc hands on no
# absolute one with a comma, a bracket or a quote in it.
function(overlap_include TARGET)
    foreach(folder ${ARGN})
        file(RELATIVE_PATH folder ${CMAKE_BINARY_DIR} ${folder})
        target_compile_options(${TARGET} PRIVATE -I${folder})
    endforeach()
endfunction()

# overlap_part(NAME [GPU] SOURCES a.c b.cu ... [INCLUDES dir ...])
# The archive lib<NAME>.a in <build>/grader/parts/, target part_<NAME>. GPU: only a run on a GPU calls
# it, so ./grade builds it where there is one (target gpu_parts).
function(overlap_part NAME)
    cmake_parse_arguments(P "GPU" "" "SOURCES;INCLUDES" ${ARGN})
    add_library(part_${NAME} STATIC ${P_SOURCES})
    overlap_include(part_${NAME} ${CMAKE_SOURCE_DIR} ${P_INCLUDES})
    target_include_directories(part_${NAME} PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(part_${NAME} PRIVATE overlap_warnings)
    target_compile_options(part_${NAME} PRIVATE
        $<$<COMPILE_LANGUAGE:C>:-O2 -g -fno-sanitize=all -fno-profile-arcs -fno-test-coverage>
        $<$<COMPILE_LANGUAGE:CUDA>:-O2 -g -lineinfo>
        # No part launches with <<<>>>, so no static in nvcc's stubs is ever made: without the C++
        # library that would guard it, a run starts half a millisecond sooner.
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fno-exceptions,-fno-threadsafe-statics>)
    set_target_properties(part_${NAME} PROPERTIES
        OUTPUT_NAME ${NAME}
        ARCHIVE_OUTPUT_DIRECTORY ${OVERLAP_PARTS_DIRECTORY}
        CUDA_ARCHITECTURES "${OVERLAP_CUDA_ARCHITECTURES}"
        CUDA_RUNTIME_LIBRARY Shared
        POSITION_INDEPENDENT_CODE ON)
    set(list OVERLAP_PARTS)
    if(P_GPU)
        set(list OVERLAP_GPU_PARTS)
    endif()
    set_property(GLOBAL APPEND PROPERTY ${list} part_${NAME})
endfunction()

# overlap_lesson(NN_name JUDGE judge.c ... [DRIVE drive.c ...])
# The judge is added to the library of lessons (target lesson_judges); the drive becomes the part
# NN_name_drive, with lessons/NN_name/ in its include path.
function(overlap_lesson NAME)
    cmake_parse_arguments(L "" "" "JUDGE;DRIVE" ${ARGN})
    list(TRANSFORM L_JUDGE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    target_sources(lesson_judges PRIVATE ${L_JUDGE})
    if(L_DRIVE)
        overlap_part(${NAME}_drive SOURCES ${L_DRIVE} INCLUDES ${CMAKE_SOURCE_DIR}/lessons/${NAME})
    endif()
endfunction()
