# SPDX-License-Identifier: MIT
# The kinds of targets this tree has: modules, tests and fuzzers.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(sluice_flags INTERFACE)
target_include_directories(sluice_flags INTERFACE ${PROJECT_SOURCE_DIR}/include
                                                  ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(sluice_flags INTERFACE _GNU_SOURCE)
target_compile_options(sluice_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wshadow;-Wstrict-prototypes;-Wmissing-prototypes>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
# No path of the machine that built them is in the binaries.
foreach(map IN ITEMS ${PROJECT_SOURCE_DIR}/= ${PROJECT_BINARY_DIR}=build)
  target_compile_options(sluice_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-ffile-prefix-map=${map}>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffile-prefix-map=${map}>)
endforeach()
if(SLUICE_WERROR)
  target_compile_options(sluice_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>)
endif()
if(SLUICE_SANITIZE)
  target_compile_options(sluice_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-fsanitize=${SLUICE_SANITIZE}>
    $<$<COMPILE_LANGUAGE:C>:-fno-omit-frame-pointer>
    $<$<COMPILE_LANGUAGE:C>:-fno-sanitize-recover=all>)
  # Each check traps: the text that gcc has for all of them took a fifth of a process's start.
  # With ASAN_OPTIONS=handle_sigill=1, as in the preset of tests, the report has the line.
  # A trap needs no libubsan, whose 6 MB of variables the search for leaks read at each exit.
  set(SLUICE_SANITIZE_LINKED ${SLUICE_SANITIZE})
  if(SLUICE_SANITIZE MATCHES undefined AND CMAKE_C_COMPILER_ID STREQUAL GNU)
    target_compile_options(sluice_flags INTERFACE
      $<$<COMPILE_LANGUAGE:C>:-fsanitize-undefined-trap-on-error>)
    string(REGEX REPLACE ",undefined|undefined,?" "" SLUICE_SANITIZE_LINKED ${SLUICE_SANITIZE})
  endif()
  target_compile_definitions(sluice_flags INTERFACE SLUICE_SANITIZED)
  if(SLUICE_SANITIZE_LINKED)
    target_link_options(sluice_flags INTERFACE -fsanitize=${SLUICE_SANITIZE_LINKED})
  endif()
endif()
# All modules are linked to each test, and these linkers take half of the default's time for it. The
# commands keep the default, which is strict about the order of libraries.
set(SLUICE_TEST_LINKER)
if(SLUICE_TESTS)
  include(CheckLinkerFlag)
  foreach(linker IN ITEMS lld gold)
    check_linker_flag(C -fuse-ld=${linker} SLUICE_LINKER_${linker})
    if(SLUICE_LINKER_${linker})
      set(SLUICE_TEST_LINKER $<$<LINK_LANGUAGE:C>:-fuse-ld=${linker}>)
      break()
    endif()
  endforeach()
endif()
if(SLUICE_FUZZ)
  target_compile_options(sluice_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>)
endif()

# sluice_module(NAME SOURCES FILE... [NEEDS LIBRARY...]): a part of libsluice.
function(sluice_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;NEEDS" ${ARGN})
  add_library(sluice_${name} STATIC ${arg_SOURCES})
  target_link_libraries(sluice_${name} PUBLIC sluice_flags ${arg_NEEDS})
  set_property(GLOBAL APPEND PROPERTY SLUICE_MODULES sluice_${name})
endfunction()

# sluice_isa(LEVEL FILE...): sources for one instruction set level. Callers ask base/cpu.h first.
set(SLUICE_ISA_avx2 -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt)
set(SLUICE_ISA_avx512 ${SLUICE_ISA_avx2} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi
    -mavx512vbmi2)
set(SLUICE_ISA_avx2_clmul ${SLUICE_ISA_avx2} -mpclmul)
set(SLUICE_ISA_avx512_clmul ${SLUICE_ISA_avx512} -mpclmul -mvpclmulqdq -mgfni)
function(sluice_isa level)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${SLUICE_ISA_${level}}")
endfunction()

# sluice_oracle(FILE...): sources that judge what is on trial. Sanitizers do not slow them down.
function(sluice_oracle)
  if(SLUICE_SANITIZE AND NOT SLUICE_FUZZ)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=all")
  endif()
endfunction()

# sluice_test_program(NAME SOURCES FILE... NEEDS LIBRARY...): a cmocka program, not yet a test.
function(sluice_test_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;NEEDS" ${ARGN})
  if(NOT SLUICE_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_NEEDS} PkgConfig::CMOCKA)
  target_link_options(${name} PRIVATE ${SLUICE_TEST_LINKER})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# sluice_test_library(NAME SOURCES FILE... NEEDS LIBRARY...): fixtures of several modules' tests.
function(sluice_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;NEEDS" ${ARGN})
  if(NOT SLUICE_TESTS)
    return()
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_NEEDS} PkgConfig::CMOCKA)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# sluice_test_run(TEST PROGRAM ARGUMENT...): one CTest. Status 77 means skipped, with the reason
# printed.
function(sluice_test_run test program)
  if(NOT SLUICE_TESTS)
    return()
  endif()
  add_test(NAME ${test} COMMAND ${program} ${ARGN})
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800)
endfunction()

# sluice_threads(TEST...): these have threads: the tests of preset tsan. Target threaded makes their
# programs: that of x and of x.variant is test_x; scripts run the command.
add_custom_target(threaded)
function(sluice_threads)
  if(NOT SLUICE_TESTS)
    return()
  endif()
  set_tests_properties(${ARGN} PROPERTIES LABELS threads)
  foreach(test IN LISTS ARGN)
    string(REGEX REPLACE "\\..*" "" program ${test})
    if(TARGET test_${program})
      add_dependencies(threaded test_${program})
    endif()
  endforeach()
endfunction()

# sluice_test(NAME SOURCES FILE... NEEDS LIBRARY...): a program that is one test. test_x is test x.
function(sluice_test name)
  sluice_test_program(${name} ${ARGN})
  string(REGEX REPLACE "^test_" "" test ${name})
  sluice_test_run(${test} ${name})
endfunction()

# sluice_fuzz(NAME SOURCES FILE... NEEDS LIBRARY...): a libFuzzer program; `./dev fuzz` runs all.
add_custom_target(fuzzers)
function(sluice_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;NEEDS" ${ARGN})
  if(NOT SLUICE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_NEEDS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer ${SLUICE_TEST_LINKER})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
  add_dependencies(fuzzers ${name})
endfunction()
