# SPDX-License-Identifier: Apache-2.0

# Decides whether the cuda/ folders are built: SORTIE_HAVE_CUDA, and SORTIE_NO_CUDA_REASON when not.
set(SORTIE_HAVE_CUDA OFF)
set(SORTIE_CUDA_MINIMUM 12.0)

option(SORTIE_FAST_DEVICE_COMPILE "Optimise CUDA sources less: to test that they compile where no GPU runs them" OFF)

# Sets SORTIE_HAVE_CUDA, or SORTIE_NO_CUDA_REASON to the reason why CUDA cannot be used.
macro(sortie_try_cuda)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    # CMake searches PATH only, and the installer of the toolkit does not add nvcc to it.
    find_program(SORTIE_NVCC nvcc PATHS /usr/local/cuda/bin)
    mark_as_advanced(SORTIE_NVCC)
    if(SORTIE_NVCC)
      set(CMAKE_CUDA_COMPILER ${SORTIE_NVCC})
    endif()
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    # `native` requires a GPU at configure time; without one the build is for Hopper.
    if(EXISTS /dev/nvidia0)
      set(CMAKE_CUDA_ARCHITECTURES native CACHE STRING "CUDA architectures")
    else()
      set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "CUDA architectures")
    endif()
  endif()
  if(NOT SORTIE_CUDA STREQUAL "ON")
    include(CheckLanguage)
    check_language(CUDA)
  endif()
  if(SORTIE_CUDA STREQUAL "ON" OR CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(CUDAToolkit_VERSION VERSION_LESS SORTIE_CUDA_MINIMUM)
      set(SORTIE_NO_CUDA_REASON "CUDA ${CUDAToolkit_VERSION} was found, ${SORTIE_CUDA_MINIMUM} or newer is needed")
    else()
      set(SORTIE_HAVE_CUDA ON)
    endif()
  elseif(SORTIE_NVCC OR DEFINED ENV{CUDACXX})
    set(SORTIE_NO_CUDA_REASON "nvcc was found but does not compile; see CMakeFiles/CMakeError.log in the build folder")
  else()
    set(SORTIE_NO_CUDA_REASON "no nvcc was found in PATH, CUDACXX or /usr/local/cuda/bin")
  endif()
endmacro()

if(SORTIE_CUDA STREQUAL "OFF")
  set(SORTIE_NO_CUDA_REASON "switched off by SORTIE_CUDA=OFF")
else()
  sortie_try_cuda()
  if(SORTIE_CUDA STREQUAL "ON" AND NOT SORTIE_HAVE_CUDA)
    message(FATAL_ERROR "SORTIE_CUDA=ON, but ${SORTIE_NO_CUDA_REASON}")
  endif()
endif()

if(SORTIE_HAVE_CUDA AND SORTIE_FAST_DEVICE_COMPILE)
  # The front end and its diagnostics are the same with this flag.
  include(CheckCompilerFlag)
  check_compiler_flag(CUDA --Ofast-compile=max SORTIE_NVCC_COMPILES_FAST)
  if(SORTIE_NVCC_COMPILES_FAST)
    target_compile_options(sortie_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>)
  endif()
  # Host code in CUDA sources is mostly launches, which nothing calls without a GPU. nvcc passes this to the host compiler
  # only, which takes half of the time of a source when it optimises.
  string(REGEX REPLACE "-O[1-3]" "-O0" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
endif()
