# Hardening of every target of the project. The test `hardening` reads the built files.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)

set(ddlrun_hardening -fstack-protector-strong -D_GLIBCXX_ASSERTIONS)
foreach(option IN ITEMS -fstack-clash-protection -fcf-protection -mbranch-protection=standard)  # the last is ARM's
  string(MAKE_C_IDENTIFIER "DDLRUN_HAS${option}" has_option)
  check_cxx_compiler_flag(${option} ${has_option})
  if(${has_option})
    list(APPEND ddlrun_hardening ${option})
  endif()
endforeach()
# Without optimisation glibc refuses it. -U: a distribution's CXXFLAGS may define another level.
set(fortify_level 3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  set(fortify_level 2)
endif()
set(ddlrun_fortify "SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify_level}")

# No file has the path of the directory in which it was built, so that two builds are equal. A debugger needs it.
set(ddlrun_paths "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")

# nvcc has options of its own.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${ddlrun_hardening}>"
                    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:${ddlrun_fortify};${ddlrun_paths}>")
