# SPDX-License-Identifier: MIT
# CUDA or not. Sets SLUICE_HAVE_CUDA; everything else asks sluice_cuda_backend.

set(SLUICE_HAVE_CUDA OFF)
if(NOT SLUICE_CUDA STREQUAL "OFF")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    # One binary for all: machine code from Turing on, PTX for what comes later. Code for 86 runs on
    # 89, too.
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 90-real 90-virtual)
    set(default_architectures ON)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(SLUICE_HAVE_CUDA ON)
    if(default_architectures AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
      list(APPEND CMAKE_CUDA_ARCHITECTURES 100-real 120-real) # Blackwell
    endif()
  elseif(SLUICE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SLUICE_CUDA=ON, but no CUDA compiler was found (nvcc in PATH, or CUDACXX)")
  endif()
endif()

if(SLUICE_HAVE_CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "CUDA: not built; the CPU backends run everywhere")
endif()

# sluice_cuda_backend(TARGET FILE.cu BACKEND...): adds the CUDA source that defines these backends.
# Without CUDA it adds a source that defines each as not usable. x_cuda_block is named "cuda-block".
function(sluice_cuda_backend target source)
  if(SLUICE_HAVE_CUDA)
    target_sources(${target} PRIVATE ${source})
  else()
    foreach(backend IN LISTS ARGN)
      string(REGEX REPLACE "^.*(cuda.*)$" "\\1" name ${backend})
      string(REPLACE "_" "-" name ${name})
      set(generated ${CMAKE_CURRENT_BINARY_DIR}/${backend}_absent.c)
      configure_file(${PROJECT_SOURCE_DIR}/cmake/backend_absent.c.in ${generated} @ONLY)
      target_sources(${target} PRIVATE ${generated})
    endforeach()
  endif()
endfunction()
