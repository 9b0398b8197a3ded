# Every target of the project is made by one of the functions below.

# Warnings for our own code only: reached through BUILD_INTERFACE, so never part of the installed package.
add_library(collsim_warnings INTERFACE)
target_compile_options(collsim_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wshadow;-Wold-style-cast>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual;-Wdouble-promotion>
  # What nvcc writes for the host compiler is not pedantic.
  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Wall,-Wextra>)
# g++ 12 imagines overlapping copies and bounds in inlined library code when it optimises (GCC bugs 105651, 105329).
target_compile_options(collsim_warnings INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<NOT:$<CONFIG:Debug>>>:-Wno-restrict;-Wno-array-bounds>)

# What every target of ours compiles with. A fused multiply-add rounds differently from machine to machine,
# and results must not.
function(collsim_set_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-Xcompiler=-ffp-contract=off>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CUDA_STANDARD 20 CUDA_EXTENSIONS OFF)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:collsim_warnings>)
  # Whether addresses are aligned matters where bytes are cast to what they hold. To check it at every access doubles the
  # program (preset asan).
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  if(COLLSIM_CHECK_ALIGNMENT AND folder MATCHES "^(tests/)?(kernels|validate)(/|$)")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=alignment>)
  endif()
endfunction()

# What simulates is optimised in checked builds, too (preset asan); what only calls it, the program and the tests, compiles in
# three fifths of the time if it is not, and runs hardly longer.
function(collsim_leave_unoptimised target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CXX>>:-O0>)
endfunction()

# A header that its own source includes before anything else is proven to include all it needs, in every build without
# precompiled headers; the others have to be compiled alone (target all_verify_interface_header_sets).
#   collsim_split_headers(proven unproven SOURCES … HEADERS …)
function(collsim_split_headers proven unproven)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;HEADERS")
  set(alone ${arg_HEADERS})
  foreach(source IN LISTS arg_SOURCES)
    file(STRINGS "${source}" includes REGEX "^#include" LIMIT_COUNT 1)
    string(REGEX REPLACE "^.*/([^/]+)\"$" "\\1" first "${includes}")
    string(REGEX REPLACE "\\.[a-z]+$" ".hpp" own "${source}")
    if(own STREQUAL first)
      list(REMOVE_ITEM alone "${own}")
    endif()
  endforeach()
  set(included ${arg_HEADERS})
  list(REMOVE_ITEM included ${alone})
  set(${proven} ${included} PARENT_SCOPE)
  set(${unproven} ${alone} PARENT_SCOPE)
endfunction()

# The library of one folder: target collsim_<name>, used (here and by consumers) as collsim::<name>.
#   collsim_add_library(name SOURCES … HEADERS … PUBLIC_DEPS … PRIVATE_DEPS …)
function(collsim_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;PUBLIC_DEPS;PRIVATE_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "collsim_add_library(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(name MATCHES "^collsim")
    message(FATAL_ERROR "collsim_add_library(${name}): give the name without the prefix collsim_")
  endif()

  set(target collsim_${name})
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
    collsim_set_compile_options(${target})
    collsim_use_precompiled(${target} library)
    target_link_libraries(${target} PUBLIC ${arg_PUBLIC_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_link_libraries(${target} INTERFACE ${arg_PUBLIC_DEPS} ${arg_PRIVATE_DEPS})
  endif()
  add_library(collsim::${name} ALIAS ${target})
  collsim_split_headers(proven unproven SOURCES ${arg_SOURCES} HEADERS ${arg_HEADERS})
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${proven}
    FILE_SET unproven TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${unproven})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    VERIFY_INTERFACE_HEADER_SETS ON
    INTERFACE_HEADER_SETS_TO_VERIFY unproven)

  set_property(GLOBAL APPEND PROPERTY COLLSIM_INSTALLED_LIBRARIES collsim::${name})
  install(TARGETS ${target} EXPORT collsimTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/collsim"
    FILE_SET unproven DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/collsim")
endfunction()

# The program: collsim_add_program(name SOURCES … DEPS …).
# It has COLLSIM_VERSION (a string literal). Only in the build tree there is a file `collsim-build-tree` beside it, whose one
# line is the path of the source tree: that is how a program that was not installed finds configs/. The
# installed one has no such file and uses ../share/collsim/configs, so it never depends on the machine that built it.
function(collsim_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "collsim_add_program(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()

  add_executable(${name} ${arg_SOURCES})
  collsim_set_compile_options(${name})
  collsim_leave_unoptimised(${name})
  collsim_add_precompiled(program UNOPTIMISED HEADERS <fmt/format.h> LIBRARIES fmt::fmt)
  collsim_use_precompiled(${name} program)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  target_compile_definitions(${name} PRIVATE COLLSIM_VERSION="${PROJECT_VERSION}")
  file(GENERATE OUTPUT "$<TARGET_FILE_DIR:${name}>/collsim-build-tree" CONTENT "${PROJECT_SOURCE_DIR}\n")
  install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endfunction()
