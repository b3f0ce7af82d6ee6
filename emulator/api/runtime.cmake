# The runtime's half of api/: the reader of fat binaries, and libcudart.so.13 over the driver's
# public functions.
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)

add_library(fatbin STATIC ${CMAKE_CURRENT_LIST_DIR}/fatbin.c
    ${CMAKE_CURRENT_LIST_DIR}/fatbin_link.c)
target_include_directories(fatbin PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(fatbin PRIVATE overlap_warnings PkgConfig::ZSTD PkgConfig::LZ4)

# libcudart.so.13, found through LD_LIBRARY_PATH in place of NVIDIA's, beside our libcuda.so.1.
if(TARGET emulator_cuda)
    set(here ${CMAKE_CURRENT_LIST_DIR})
    add_library(emulator_cudart SHARED
        ${here}/runtime_absent.c ${here}/runtime_array.c ${here}/runtime_batch.c ${here}/runtime_copy.c ${here}/runtime_device.c
        ${here}/runtime_error.c ${here}/runtime_graph.c ${here}/runtime_graph_node.c ${here}/runtime_launch.c ${here}/runtime_memory.c
        ${here}/runtime_registry.c ${here}/runtime_rows.c ${here}/runtime_state.c
        ${here}/runtime_stream.c)
    target_include_directories(emulator_cudart PRIVATE ${CMAKE_SOURCE_DIR}
        ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(emulator_cudart PRIVATE overlap_warnings emulator_cuda Threads::Threads)
    # The runtime still offers functions whose driver counterparts cuda.h calls deprecated.
    target_compile_options(emulator_cudart PRIVATE -Wno-deprecated-declarations)
    target_link_options(emulator_cudart PRIVATE
        -Wl,--version-script=${here}/libcudart.map -Wl,--no-undefined)
    set_target_properties(emulator_cudart PROPERTIES
        OUTPUT_NAME cudart VERSION 13 SOVERSION 13 BUILD_RPATH_USE_ORIGIN ON
        LINK_DEPENDS ${here}/libcudart.map
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/emulator/lib)
endif()
