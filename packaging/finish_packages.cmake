# Run by CPack on the staged files of each package: what Debian's and Fedora's policies require of any package, a licence and
# a change log under its name, and compressed man pages.
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(GLOB components LIST_DIRECTORIES true "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*")
foreach(staged IN LISTS components)
  get_filename_component(component "${staged}" NAME)
  string(TOUPPER "${component}" upper)
  set(name "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(doc "${staged}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/${name}")
  file(MAKE_DIRECTORY "${doc}")
  file(COPY_FILE "${source}/LICENSE" "${doc}/copyright")  # not file(INSTALL), which puts DESTDIR before the path
  file(COPY_FILE "${source}/CHANGELOG.md" "${doc}/changelog")
  file(CHMOD "${doc}/copyright" "${doc}/changelog" FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB_RECURSE pages "${staged}${CPACK_PACKAGING_INSTALL_PREFIX}/share/man/*.[15]")
  execute_process(COMMAND gzip -9nf ${pages} "${doc}/changelog" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
