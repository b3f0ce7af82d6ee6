# A toolchain for 64-bit Arm on another Debian: its cross compiler, and in $OVERLAP_ARM_ROOT the Arm
# Debian whose libraries are linked; programs run under qemu. tests/arm/run.sh makes what it needs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CUDA_HOST_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT $ENV{OVERLAP_ARM_ROOT})
# nvcc's host compiler links without being told.
foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT --sysroot=$ENV{OVERLAP_ARM_ROOT})
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;$ENV{OVERLAP_ARM_ROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} $ENV{OVERLAP_ARM_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} $ENV{OVERLAP_ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
