# What the libraries link privately. Installed beside the package's config file, so that a consumer of
# the static libraries finds the same things; hence find_dependency, which also serves the build itself.

include(CMakeFindDependencyMacro)

find_dependency(yaml-cpp)
find_dependency(nlohmann_json)
find_dependency(pugixml)
find_dependency(Threads)

# yaml-cpp 0.7 has the target without a namespace, 0.8 with it.
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
