# Run by CPack on the staged files of each package: what Debian's and Fedora's policies require of any package, a licence and
# a change log under its name, and compressed man pages. A Debian package also has a change log in Debian's own form.
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(GLOB components LIST_DIRECTORIES true "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*")
# CMake takes SOURCE_DATE_EPOCH as the time, where it is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(release "${CPACK_DEBIAN_PACKAGE_RELEASE}")
if(NOT release)
  set(release 1)
endif()
foreach(staged IN LISTS components)
  get_filename_component(component "${staged}" NAME)
  string(TOUPPER "${component}" upper)
  set(name "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(doc "${staged}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/${name}")
  file(MAKE_DIRECTORY "${doc}")
  file(REMOVE "${doc}/LICENSE")  # Debian's name of it follows
  file(COPY_FILE "${source}/LICENSE" "${doc}/copyright")  # not file(INSTALL), which puts DESTDIR before the path
  file(COPY_FILE "${source}/CHANGELOG.md" "${doc}/changelog")
  file(CHMOD "${doc}/copyright" FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  set(logs "${doc}/changelog")
  if(CPACK_GENERATOR STREQUAL "DEB")
    file(WRITE "${doc}/changelog.Debian"
         "ddlrun (${CPACK_PACKAGE_VERSION}-${release}) unstable; urgency=medium\n\n"
         "  * Built from the sources of version ${CPACK_PACKAGE_VERSION}; changelog.gz has its changes.\n\n"
         " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    list(APPEND logs "${doc}/changelog.Debian")
    # Debian's loader finds the libraries of all packages. Elsewhere MPI is in a directory of its own.
    file(GLOB programs "${staged}${CPACK_PACKAGING_INSTALL_PREFIX}/bin/*")
    foreach(program IN LISTS programs)
      file(RPATH_REMOVE FILE "${program}")
    endforeach()
  endif()
  file(CHMOD ${logs} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB_RECURSE pages "${staged}${CPACK_PACKAGING_INSTALL_PREFIX}/share/man/*.[15]")
  execute_process(COMMAND gzip -9nf ${pages} ${logs} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
