# How tests are added. A test that cannot run exits 125 with "skipped: WHY" on stdout.
add_custom_target(unit_tests)

function(ddlrun_unit_tests room)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  set(target unit_${room})
  set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cpp" PROPERTIES
                              SKIP_UNITY_BUILD_INCLUSION ON)  # the #define makes doctest's own code
  ddlrun_executable(${target} SOURCES ${ARG_SOURCES} "${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cpp"
                    LINK doctest::doctest ${ARG_LINK})
  target_compile_definitions(${target} PRIVATE DDLRUN_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)  # what is tested is optimised; the tests compile in half the time
  endif()
  add_dependencies(unit_tests ${target})
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES LABELS unit TIMEOUT 600)
endfunction()

# ddlrun_script_test(NAME LABEL SCRIPT [ARGS...])  the script finds the tool in $DDLRUN, the build in
# $DDLRUN_BUILD_DIR, the sources in $DDLRUN_SOURCE_DIR.
function(ddlrun_script_test name label script)
  add_test(NAME ${name} COMMAND "${script}" ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 125 TIMEOUT 1200 ENVIRONMENT
    "DDLRUN_BUILD_DIR=${PROJECT_BINARY_DIR};DDLRUN_SOURCE_DIR=${PROJECT_SOURCE_DIR};DDLRUN=$<TARGET_FILE:ddlrun>")
  if(label MATCHES "^(mpi|cli|lab)$")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK cores)  # ranks that are bound need the cores to themselves
  endif()
endfunction()
