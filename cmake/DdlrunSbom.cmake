# The target `sbom`: ddlrun.spdx.json in the build directory, the parts of what is installed (SPDX 2.3).
find_package(Python3 QUIET COMPONENTS Interpreter)
set(sbom_files "")
foreach(target IN ITEMS ddlrun ddl-train ddl-bench ddl_shared ddl_cuda ddl_train_cuda ddlrun_cuda)
  if(TARGET ${target})
    list(APPEND sbom_files $<TARGET_FILE:${target}>)
  endif()
endforeach()
if(Python3_FOUND)
  add_custom_target(sbom
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/cmake/sbom.py" "${PROJECT_BINARY_DIR}" "${PROJECT_VERSION}"
            "${PROJECT_BINARY_DIR}/ddlrun.spdx.json" ${sbom_files}
    DEPENDS ${sbom_files} VERBATIM)
endif()
