# The software device where it is installed: one folder with a program and its libraries, which runs
# wherever it lies.
#
#   cmake/release.sh         makes a Debian package of it, beside the archive that has it too
#   pip install .            makes a wheel of it (pyproject.toml)
#   cmake --install BUILD --component device --prefix DIR

# overlap_search_path(TARGET PATH): where it looks for libraries, from the start: CMake would fill a
# longer one up with colons until it is installed, and an empty name in it is the current folder, which
# may be a submission's.
function(overlap_search_path target path)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${path}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# DT_RPATH, not DT_RUNPATH: what our libraries need in turn is found by it too.
target_link_options(emulate PRIVATE -Wl,--disable-new-dtags)
overlap_search_path(emulate "$ORIGIN/../libraries")
# In the program's process: only what the device itself needs, where that process may read.
overlap_search_path(emulator_cuda "$ORIGIN/needed")
overlap_search_path(emulator_cudart "$ORIGIN")
overlap_search_path(emulator_cudart12 "$ORIGIN")
overlap_search_path(emulator_nvml "$ORIGIN")
overlap_search_path(emulator_smi "$ORIGIN/..")
overlap_search_path(front_nvjitlink "$ORIGIN/../needed")
get_property(OVERLAP_STANDINS GLOBAL PROPERTY OVERLAP_STANDINS)
foreach(standin ${OVERLAP_STANDINS})
    overlap_search_path(${standin} "$ORIGIN/..")
endforeach()

# Everything but the C library itself, which has to be this old or newer.
set(OVERLAP_SYSTEM_LIBRARIES "^ld-linux" "^lib(c|m|mvec|dl|rt|pthread|resolv)[.]so")
# For another processor: not from where this machine's loader looks.
set(OVERLAP_LIBRARY_FOLDERS "")
if(CMAKE_CROSSCOMPILING)
    set(OVERLAP_LIBRARY_FOLDERS DIRECTORIES ${CMAKE_SYSROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE}
        ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()

# overlap_install_device(FOLDER [COMPONENT name EXCLUDE_FROM_ALL]) puts it there, below the prefix.
function(overlap_install_device folder)
    string(MAKE_C_IDENTIFIER "of_${folder}" set)
    install(TARGETS emulate RUNTIME_DEPENDENCY_SET ${set}_program
        DESTINATION ${folder}/emulator ${ARGN})
    install(TARGETS emulator_cuda RUNTIME_DEPENDENCY_SET ${set}_device
        LIBRARY DESTINATION ${folder}/emulator/lib NAMELINK_SKIP ${ARGN})
    install(TARGETS emulator_cudart emulator_cudart12 emulator_nvml threads_preload front_audit
        front_preload
        LIBRARY DESTINATION ${folder}/emulator/lib NAMELINK_SKIP ${ARGN})
    if(OVERLAP_STANDINS)
        install(TARGETS ${OVERLAP_STANDINS}
            LIBRARY DESTINATION ${folder}/emulator/lib/standins NAMELINK_SKIP ${ARGN})
    endif()
    install(TARGETS front_nvrtc front_nvrtc12 front_nvjitlink emulator_smi
        DESTINATION ${folder}/emulator/lib/front ${ARGN})
    install(PROGRAMS ${CMAKE_SOURCE_DIR}/emulator/front/nvcc ${CMAKE_SOURCE_DIR}/emulator/front/ptxas
        DESTINATION ${folder}/emulator/lib/front ${ARGN})
    install(PROGRAMS ${CMAKE_SOURCE_DIR}/emulator/front/ptxas RENAME ptxas-blackwell
        DESTINATION ${folder}/emulator/lib/front ${ARGN})
    install(FILES ${CMAKE_SOURCE_DIR}/emulator/front/behind.sh
        DESTINATION ${folder}/emulator/lib/front ${ARGN})
    install(RUNTIME_DEPENDENCY_SET ${set}_program PRE_EXCLUDE_REGEXES ${OVERLAP_SYSTEM_LIBRARIES}
        ${OVERLAP_LIBRARY_FOLDERS} DESTINATION ${folder}/libraries ${ARGN})
    install(RUNTIME_DEPENDENCY_SET ${set}_device PRE_EXCLUDE_REGEXES ${OVERLAP_SYSTEM_LIBRARIES}
        ${OVERLAP_LIBRARY_FOLDERS} DESTINATION ${folder}/emulator/lib/needed ${ARGN})
    install(FILES ${CMAKE_SOURCE_DIR}/cmake/libraries.txt DESTINATION ${folder}/libraries
        RENAME README ${ARGN})
endfunction()

overlap_install_device(. COMPONENT device EXCLUDE_FROM_ALL)

# The Debian package: the device in /usr/lib/overlap-emulate, and its program on PATH.
set(debian ${CMAKE_BINARY_DIR}/generated/debian)
file(MAKE_DIRECTORY ${debian})
file(CREATE_LINK ../lib/overlap-emulate/emulator/emulate ${debian}/overlap-emulate SYMBOLIC)
install(FILES ${debian}/overlap-emulate DESTINATION bin COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/overlap-emulate RENAME copyright
    COMPONENT debian EXCLUDE_FROM_ALL)

execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc ERROR_QUIET)
string(REGEX MATCH "[0-9.]+" libc "${libc}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME overlap-emulate)
set(CPACK_PACKAGE_CONTACT "The authors of Overlap")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Runs CUDA programs without a GPU")
set(CPACK_PACKAGE_DESCRIPTION
    "A software CUDA device: executes the PTX in a program, and names its races and wrong accesses.")
set(CPACK_STRIP_FILES ON)
# The prefix comes behind the folders.
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};overlap;device;/usr/lib/overlap-emulate"
    "${CMAKE_BINARY_DIR};overlap;debian;/usr")
# Folders that everybody may enter, whatever the umask is.
file(WRITE ${debian}/permit.cmake "file(CHMOD_RECURSE \${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)\n")
set(CPACK_PRE_BUILD_SCRIPTS ${debian}/permit.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${libc})")
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
include(CPack)
add_custom_target(deb COMMAND ${CMAKE_CPACK_COMMAND} -B ${CMAKE_BINARY_DIR}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} DEPENDS emulate stand_ins)
