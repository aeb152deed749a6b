# Run by CPack for each generator: what a package is made of there.
if(CPACK_GENERATOR STREQUAL "RPM")
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL python_package)
endif()
