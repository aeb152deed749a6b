# The compile settings of all targets. Every module is a static library; includes start at the source root.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# CMake pads a RUNPATH that it edits at installation with ':', and glibc reads the empty element as the current
# directory: anyone who can write there could run code in ddl-train. So both trees have the same RUNPATH, the absolute
# directories of the libraries that are linked.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

# Installed scripts are programs, whatever their modes in a clone are.
set(DDLRUN_PROGRAM_MODES OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

add_library(ddlrun_settings INTERFACE)
target_compile_features(ddlrun_settings INTERFACE cxx_std_20)
# libddl's public headers are "ddl/ddl.hpp" here too, as where they are installed.
target_include_directories(ddlrun_settings INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/ddl/include")
# nvcc has options of its own.
target_compile_options(ddlrun_settings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;$<$<BOOL:${DDLRUN_WERROR}>:-Werror>>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # GCC 12 and 13 report overlaps in std::string that do not exist (GCC bug 105329).
  target_compile_options(ddlrun_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(DDLRUN_SANITIZE)
  # These checks take half of the compile time, and most of their faults cause a crash anyway. Reports need only the
  # lines of -g1.
  set(costly null,alignment,vptr,object-size,pointer-overflow,return,nonnull-attribute,returns-nonnull-attribute)
  target_compile_options(ddlrun_settings INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined;-fno-sanitize=${costly};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-g1>")
  target_link_options(ddlrun_settings INTERFACE -fsanitize=address,undefined)
endif()

# ddlrun_library(NAME [LOOPS] [SOURCES ...] [LINK ...])  LINK is public. LOOPS: compile with -O3. Elsewhere -O1 is as
# fast at run time and takes half of the time to compile (GCC 12).
function(ddlrun_library name)
  cmake_parse_arguments(ARG "LOOPS" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(NOT ARG_LOOPS)
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  elseif(DDLRUN_SANITIZE)
    # Without it the unit tests of the arithmetic take three times as long under the sanitizers.
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
  endif()
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PUBLIC ddlrun_settings ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

# ddlrun_executable(NAME [SOURCES ...] [LINK ...])
function(ddlrun_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE ddlrun_settings ${ARG_LINK})
endfunction()
