# What every room's CMakeLists.txt relies on: the languages' settings, the warnings, one way to
# declare a test.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(CUDAToolkit 13.0 REQUIRED)
pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)

# Warnings are for our own C; CUDA's host pass goes through nvcc, which has its own.
add_library(overlap_warnings INTERFACE)
target_compile_options(overlap_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Werror>)
target_compile_definitions(overlap_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)

# overlap_test(NAME module_test SOURCES a.c ... [LIBRARIES x y] [TIMEOUT seconds])
# A Check program, registered with CTest under NAME, built into <build>/tests/.
function(overlap_test)
    cmake_parse_arguments(T "" "NAME;TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(${T_NAME} ${T_SOURCES})
    target_link_libraries(${T_NAME} PRIVATE overlap_warnings ${T_LIBRARIES} PkgConfig::CHECK
        Threads::Threads m)
    set_target_properties(${T_NAME} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${T_NAME} COMMAND ${T_NAME})
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 120)
    endif()
    set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT})
endfunction()
