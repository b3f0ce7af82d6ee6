# What every room's CMakeLists.txt relies on: the languages' settings, the warnings, one way to
# declare a test. The top CMakeLists.txt includes it once, after the languages are known.

set(OVERLAP_SANITIZE OFF CACHE STRING
    "Build our C code with sanitizers: ON, AddressSanitizer and UBSan (preset debug); thread")
option(OVERLAP_WERROR "Warnings end the build: for developers (./selftest) and CI, never for students" OFF)
option(OVERLAP_FUZZ "Build the fuzz targets with libFuzzer, which needs clang (preset fuzz)" OFF)
option(OVERLAP_COVERAGE "Build our C code for gcov, add the target coverage (preset coverage)" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Assertions stay on: a device that may never answer wrongly checks itself in every build.
# Functions and lines, not variables: those are a sixth of the time that the compiler takes, and
# build-debug/ has them.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")

# A program's own half is compiled as nvcc compiles it unless told otherwise, which takes half as long;
# its kernels are optimised all the same. What lessons share says -O2 itself (lesson.cmake).
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-g1 -DNDEBUG")

# For a room in which no program spends its time: the compiler needs a third less.
macro(overlap_compile_quickly)
    string(REPLACE -O2 -O1 CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
endmacro()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
# FindCUDAToolkit of CMake 3.25.0 and 3.25.1 stops where there is no nvToolsExt, and CUDA 13 has
# none. This target stands in for it; nothing links to it.
if(NOT TARGET CUDA::nvToolsExt)
    add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
# The device by itself takes NVIDIA's headers, which pip puts beside the Python that builds a wheel.
if(OVERLAP_DEVICE_ONLY)
    find_package(Python COMPONENTS Interpreter)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import nvidia; print(*nvidia.__path__, sep=';')"
        OUTPUT_VARIABLE wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(TRANSFORM wheels APPEND /cu13/include)
    find_path(CUDAToolkit_INCLUDE_DIRS cudaProfiler.h PATHS ${wheels} NO_DEFAULT_PATH)
endif()
if(NOT CUDAToolkit_INCLUDE_DIRS)
    find_package(CUDAToolkit 13.0 REQUIRED)
endif()
if(NOT OVERLAP_DEVICE_ONLY)
    pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)
    pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
    pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncursesw)
    pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
    pkg_check_modules(ARCHIVE REQUIRED IMPORTED_TARGET libarchive)
endif()

# Kernels: PTX that every GPU since Turing and the software device can take, and, where this
# machine has a GPU, its own machine code too, so that nothing is compiled at the first launch.
# Line numbers, because a finding names the line. The shared runtime library, because the loader
# then decides which device the binary meets; the static one can only reach NVIDIA's driver.
set(OVERLAP_CUDA_ARCHITECTURES 75-virtual)
find_program(OVERLAP_NVIDIA_SMI nvidia-smi)
if(OVERLAP_NVIDIA_SMI)
    execute_process(COMMAND ${OVERLAP_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE present ERROR_QUIET)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code
        OUTPUT_VARIABLE possible ERROR_QUIET)
    string(REGEX MATCHALL "sm_[0-9]+" possible "${possible}")
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" present "${present}")
    list(REMOVE_DUPLICATES present)
    foreach(capability ${present})
        string(REPLACE "." "" capability ${capability})
        if(sm_${capability} IN_LIST possible)
            list(APPEND OVERLAP_CUDA_ARCHITECTURES ${capability}-real)
        endif()
    endforeach()
endif()
set(CMAKE_CUDA_ARCHITECTURES "${OVERLAP_CUDA_ARCHITECTURES}")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)

# Warnings are for our own C; CUDA's host pass goes through nvcc, which has its own.
add_library(overlap_warnings INTERFACE)
target_compile_options(overlap_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic $<$<BOOL:${OVERLAP_WERROR}>:-Werror>>)
target_compile_definitions(overlap_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)

# A finding of UBSan ends the program, so that no test passes over one. A program that loads a
# sanitized library must be sanitized itself: hence every target, and the linker of .cu programs.
if(OVERLAP_SANITIZE STREQUAL thread)
    # It does not follow fences; gcc warns of each.
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:-fsanitize=thread;-fno-omit-frame-pointer;-Wno-tsan>")
    add_link_options("$<HOST_LINK:-fsanitize=thread>")
elseif(OVERLAP_SANITIZE)
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:-fsanitize=address,undefined;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer>")
    add_link_options("$<HOST_LINK:-fsanitize=address;-fsanitize=undefined>")
    add_compile_definitions($<$<COMPILE_LANGUAGE:C>:OVERLAP_SANITIZE=1>)
endif()

# Clang is here for libFuzzer; what it warns of beyond gcc is of no interest.
if(OVERLAP_FUZZ)
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>")
    target_compile_options(overlap_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:-w>)
endif()

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
        set(T_TIMEOUT 600)
    endif()
    # It ends what hangs, and is far from what a test takes. Check gives a test 4 seconds, which a
    # busy machine may not keep; sanitizers and qemu take their time.
    set(times 1)
    if(OVERLAP_SANITIZE OR CMAKE_CROSSCOMPILING)
        set(times 4)
    endif()
    math(EXPR each "${T_TIMEOUT} / 2")
    math(EXPR all "${T_TIMEOUT} * ${times}")
    set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${all}
        ENVIRONMENT "CK_DEFAULT_TIMEOUT=${each};CK_TIMEOUT_MULTIPLIER=${times}")
endfunction()

if(OVERLAP_COVERAGE)
    include(coverage)
endif()
