# Machine code of hot functions, native/: made where clang and LLVM's headers are there when the device
# is built, both of the version that it is tested with. The rows that are inlined are compiled once more, by clang, as bitcode;
# LLVM's library is looked for when a program runs.
set(exec_native_files int float half_lanes convert quick lone)
set(exec_native_one_lane_files int float half_lanes convert)
set(exec_native_made ${CMAKE_CURRENT_BINARY_DIR}/native)

find_program(OVERLAP_CLANG NAMES clang-14 clang)
set(exec_native OFF)
if(OVERLAP_CLANG AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    execute_process(COMMAND ${OVERLAP_CLANG} -dumpversion OUTPUT_VARIABLE version
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCH "^[0-9]+" version "${version}")
    find_path(OVERLAP_LLVM_HEADERS llvm-c/Transforms/PassBuilder.h NO_DEFAULT_PATH
        PATHS /usr/lib/llvm-${version}/include /usr/include/llvm-c-${version})
    if(OVERLAP_LLVM_HEADERS AND version EQUAL 14)
        set(exec_native ON)
    endif()
endif()
if(exec_native)
    list(REMOVE_ITEM sources native/absent.c)
    message(STATUS "Native code of hot functions: LLVM ${version}")
else()
    list(FILTER sources EXCLUDE REGEX "^native/")
    list(APPEND sources native/absent.c)
    message(STATUS "Native code of hot functions: none, without clang and LLVM's headers, of version 14")
endif()

# A file's rows as bitcode, which `made` of the caller lists.
function(exec_native_bitcode file name)
    add_custom_command(OUTPUT ${exec_native_made}/${name}.bc
        COMMAND ${CMAKE_COMMAND} -E make_directory ${exec_native_made}
        COMMAND ${OVERLAP_CLANG} -std=gnu17 -O2 -march=x86-64-v3 -w
                -Werror=implicit-function-declaration ${exec_flags} -fwrapv
                -fno-trapping-math -fno-slp-vectorize -mllvm -unroll-full-max-count=4
                ${ARGN} -DEXEC_AS_BITCODE -I${PROJECT_SOURCE_DIR} -emit-llvm
                -MD -MF ${exec_native_made}/${name}.d -MT ${exec_native_made}/${name}.bc
                -c ${CMAKE_CURRENT_SOURCE_DIR}/ops/${file} -o ${exec_native_made}/${name}.bc
        DEPENDS ops/${file} DEPFILE ${exec_native_made}/${name}.d VERBATIM)
    set(made ${made} ${exec_native_made}/${name}.bc PARENT_SCOPE)
endfunction()

function(exec_native_rows)
    if(NOT exec_native)
        return()
    endif()
    set(made)
    foreach(file ${exec_native_files})
        exec_native_bitcode(${file}.c ${file} -DEXEC_LEVEL=_native)
    endforeach()
    foreach(file ${exec_native_one_lane_files})
        exec_native_bitcode(${file}.c ${file}_one_lane -DEXEC_LEVEL=_one_lane -DEXEC_ONE_LANE)
    endforeach()
    set_source_files_properties(native/rows.c PROPERTIES OBJECT_DEPENDS "${made}"
        COMPILE_DEFINITIONS NATIVE_ROWS="${exec_native_made}/")
    set_source_files_properties(native/llvm.c PROPERTIES
        COMPILE_DEFINITIONS NATIVE_LIBRARY="libLLVM-${version}.so.1")
    target_include_directories(exec SYSTEM PRIVATE ${OVERLAP_LLVM_HEADERS})
    target_link_libraries(exec PRIVATE ${CMAKE_DL_LIBS})
endfunction()
