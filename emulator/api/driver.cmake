# The driver's half of api/: libcuda.so.1, the core of the software device. libcuda.so beside it is
# for linking.
set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(emulator_cuda SHARED
    ${here}/driver.c ${here}/driver_absent.c ${here}/driver_array.c ${here}/driver_batch.c ${here}/driver_virtual.c
    ${here}/driver_texture.c
    ${here}/driver_context.c ${here}/driver_copy.c
    ${here}/driver_device.c ${here}/driver_environment.c ${here}/driver_event.c ${here}/driver_ending.c ${here}/driver_fault.c ${here}/driver_flight.c
    ${here}/driver_host.c ${here}/driver_ignored.c ${here}/driver_image.c
    ${here}/driver_jit.c ${here}/driver_launch.c ${here}/driver_library.c
    ${here}/driver_link.c ${here}/driver_capture.c ${here}/driver_graph.c
    ${here}/driver_graph_exec.c ${here}/driver_graph_node.c ${here}/driver_graph_params.c
    ${here}/driver_graph_memory.c ${here}/driver_graph_print.c ${here}/driver_user.c ${here}/driver_memory.c
    ${here}/driver_module.c ${here}/driver_names.c ${here}/driver_object.c ${here}/driver_print.c
    ${here}/driver_operation.c ${here}/driver_races.c ${here}/driver_shield.c ${here}/driver_stack.c ${here}/driver_stream.c ${here}/driver_watch.c ${here}/driver_wrap.c)
target_include_directories(emulator_cuda PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(emulator_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(emulator_cuda PRIVATE overlap_warnings fatbin exec ptx races timeline memory trace
    Threads::Threads m)
target_link_options(emulator_cuda PRIVATE -Wl,-Bsymbolic)
set_target_properties(emulator_cuda PROPERTIES
    OUTPUT_NAME cuda VERSION 1 SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/emulator/lib)
