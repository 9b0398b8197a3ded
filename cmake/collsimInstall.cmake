# The package: find_package(collsim) gives collsim::topology, collsim::sim, …

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/collsim")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/collsimConfig.cmake.in" "${PROJECT_BINARY_DIR}/collsimConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor release may break users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/collsimConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)

install(EXPORT collsimTargets NAMESPACE collsim:: DESTINATION "${package_dir}")
install(FILES
  "${PROJECT_BINARY_DIR}/collsimConfig.cmake"
  "${PROJECT_BINARY_DIR}/collsimConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/collsimDependencies.cmake"
  DESTINATION "${package_dir}")
if(EXISTS "${PROJECT_SOURCE_DIR}/configs")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/configs" DESTINATION "${CMAKE_INSTALL_DATADIR}/collsim")
endif()
