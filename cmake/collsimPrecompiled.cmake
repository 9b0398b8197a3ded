# Headers that nearly every file includes, parsed once for all: in the files measured, that saves 8 to 40 % of their compile time.
# Off where users build, where clang-tidy looks, and where headers prove that they include what they need (preset release,
# tidy, dev): a precompiled header hides that.

option(COLLSIM_PRECOMPILE "Parse the standard library's headers once for all files" OFF)

if(COLLSIM_PRECOMPILE AND COLLSIM_CCACHE AND PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL COLLSIM_CCACHE)
  # Without these ccache keeps nothing that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${COLLSIM_CCACHE}")
endif()

# More is not better: what a file does not use costs it time at -O0, the more of it there is (CLI11, nlohmann-json: seconds).
set(COLLSIM_PRECOMPILED_HEADERS
  <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <filesystem> <fstream> <functional> <limits> <map>
  <memory> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <tuple> <unordered_map> <utility>
  <variant> <vector>)

# The target that compiles the headers for a group of targets with the same options. Does nothing where COLLSIM_PRECOMPILE is off.
#   collsim_add_precompiled(group [UNOPTIMISED] HEADERS … LIBRARIES …)
function(collsim_add_precompiled group)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNOPTIMISED" "" "HEADERS;LIBRARIES")
  if(NOT COLLSIM_PRECOMPILE)
    return()
  endif()
  set(target collsim_precompiled_${group})
  set(source "${PROJECT_BINARY_DIR}/precompiled_${group}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Only a place for the precompiled header.\n")
  add_library(${target} OBJECT "${source}")
  collsim_set_compile_options(${target})
  if(arg_UNOPTIMISED)
    collsim_leave_unoptimised(${target})
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(${target} PRIVATE ${COLLSIM_PRECOMPILED_HEADERS} ${arg_HEADERS})
endfunction()

# Compiles a target with the headers of its group.
function(collsim_use_precompiled target group)
  if(TARGET collsim_precompiled_${group})
    target_precompile_headers(${target} REUSE_FROM collsim_precompiled_${group})
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
  endif()
endfunction()
