# Functions that add tests. A test that cannot run exits with 125 and prints "skipped: WHY" on stdout.
add_custom_target(unit_tests)

# doctest's own code, compiled once.
function(ddlrun_unit_test_frame)
  if(NOT TARGET doctest_main)
    add_library(doctest_main STATIC "${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cpp")
    target_link_libraries(doctest_main PUBLIC ddlrun_settings doctest::doctest)
    set_target_properties(doctest_main PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD OFF)
  endif()
endfunction()

function(ddlrun_unit_tests module)
  cmake_parse_arguments(ARG "LOOPS" "" "SOURCES;LINK" ${ARGN})
  set(target unit_${module})
  ddlrun_unit_test_frame()
  ddlrun_executable(${target} SOURCES ${ARG_SOURCES} LINK doctest_main ${ARG_LINK})
  target_compile_definitions(${target} PRIVATE DDLRUN_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # The tested code is optimised, the tests are not and compile in half the time. LOOPS: tests that run long.
    target_compile_options(${target} PRIVATE "$<IF:$<BOOL:${ARG_LOOPS}>,-O1,SHELL:-O0 -U_FORTIFY_SOURCE>")
  endif()
  add_dependencies(unit_tests ${target})
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES LABELS unit TIMEOUT 600 COST $<IF:$<BOOL:${ARG_LOOPS}>,300,1>)
endfunction()

# ddlrun_script_test(NAME LABEL SCRIPT [ARGS...])  the script finds the tool in $DDLRUN, the build in
# $DDLRUN_BUILD_DIR, the sources in $DDLRUN_SOURCE_DIR.
function(ddlrun_script_test name label script)
  add_test(NAME ${name} COMMAND "${script}" ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 125 TIMEOUT 1200 ENVIRONMENT
    "DDLRUN_BUILD_DIR=${PROJECT_BINARY_DIR};DDLRUN_SOURCE_DIR=${PROJECT_SOURCE_DIR};DDLRUN=$<TARGET_FILE:ddlrun>")
  # Unbuffered Python writes a line and its newline separately, and mpirun then joins the lines of two ranks.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION "PYTHONUNBUFFERED=unset:")
  # Each lock is a chain of tests, one after another, and the chains run side by side. COST: they begin before the tests
  # without a lock, which fill what is left; the longest chain first.
  if(label MATCHES "^(mpi|cli)$")
    # Ranks that are bound need the cores to themselves.
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK cores COST 800)
  elseif(label MATCHES "^(cluster|peers)$")
    # These mostly wait: one beside other tests.
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK clusters COST 700)
  endif()
endfunction()

# ddlrun_losses(LOCK TEST...): these stop and kill ranks or hosts and mostly wait. They have a chain of their own: `losses`
# on this machine, `kills` on virtual hosts.
function(ddlrun_losses lock)
  set_tests_properties(${ARGN} PROPERTIES RESOURCE_LOCK ${lock} COST 600)
endfunction()
