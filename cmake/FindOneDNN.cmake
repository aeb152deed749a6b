# Finds oneDNN by its header and library (docs/adr/0004): Debian's dnnl-config.cmake requires OpenCL's development
# files, which a CPU build does not need. Defines DNNL::dnnl, OneDNN_FOUND, OneDNN_VERSION.
find_path(OneDNN_INCLUDE_DIR NAMES oneapi/dnnl/dnnl.hpp)
find_library(OneDNN_LIBRARY NAMES dnnl)
set(version_file "${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h")
if(OneDNN_INCLUDE_DIR AND EXISTS "${version_file}")
  file(STRINGS "${version_file}" version_lines REGEX "#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX REPLACE "[^;]*DNNL_VERSION_[A-Z]+ +([0-9]+)" "\\1" version_numbers "${version_lines}")
  list(JOIN version_numbers "." OneDNN_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR
                                  VERSION_VAR OneDNN_VERSION)
if(OneDNN_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${OneDNN_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}")
endif()
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)
