/* abi: the numbers behind the names of the enumerations in NVIDIA's cufft.h, which a program that
 * was compiled with that header passes. tests/standins compares them with the header where it is
 * installed. This header declares no function and includes nothing of NVIDIA's.
 *
 * Source: cuFFT 13.0, "cuFFT API Reference".
 */
#ifndef OVERLAP_STANDINS_CUFFT_ABI_H
#define OVERLAP_STANDINS_CUFFT_ABI_H

/* cufftResult */
enum fft_status {
    FFT_SUCCESS = 0x0,
    FFT_INVALID_PLAN = 0x1,
    FFT_ALLOC_FAILED = 0x2,
    FFT_INVALID_TYPE = 0x3,
    FFT_INVALID_VALUE = 0x4,
    FFT_INTERNAL_ERROR = 0x5,
    FFT_EXEC_FAILED = 0x6,
    FFT_SETUP_FAILED = 0x7,
    FFT_INVALID_SIZE = 0x8,
    FFT_NO_WORKSPACE = 0xd,
    FFT_NOT_SUPPORTED = 0x10,
};

enum fft_direction { FFT_FORWARD = -1, FFT_INVERSE = 1 };

/* cufftType */
enum fft_type {
    FFT_C2C = 0x29,
    FFT_R2C = 0x2a,
    FFT_C2R = 0x2c,
    FFT_Z2Z = 0x69,
    FFT_D2Z = 0x6a,
    FFT_Z2D = 0x6c,
};

/* cufftProperty */
enum fft_property { FFT_PATIENT_JIT = 1, FFT_MAX_HOST_THREADS = 2, FFT_PROPERTIES };

/* cudaDataType, of library_types.h: the types that cufftXtMakePlanMany accepts here. */
enum fft_data_type { FFT_R_32F = 0, FFT_R_64F = 1, FFT_C_32F = 4, FFT_C_64F = 5 };

#endif
