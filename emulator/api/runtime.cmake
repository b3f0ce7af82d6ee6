# The runtime's half of api/: the reader of fat binaries, and libcudart.so.13 over the driver's
# public functions.
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)

add_library(fatbin STATIC ${CMAKE_CURRENT_LIST_DIR}/fatbin.c)
target_include_directories(fatbin PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(fatbin PRIVATE overlap_warnings PkgConfig::ZSTD PkgConfig::LZ4)
