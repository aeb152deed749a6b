# libddl for other programs: one shared library, its headers, a CMake package and a pkg-config file. Before version 1.0 each
# minor version may change the interface, and so each has a SONAME of its own.
include(CMakePackageConfigHelpers)
add_library(ddl_shared SHARED $<TARGET_OBJECTS:ddl>)
set_target_properties(ddl_shared PROPERTIES OUTPUT_NAME ddl EXPORT_NAME ddl VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINKER_LANGUAGE CXX
                      LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/exports.map")
target_link_options(ddl_shared PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map")
target_link_libraries(ddl_shared PRIVATE fmt::fmt-header-only Threads::Threads OpenSSL::Crypto ${CMAKE_DL_LIBS})
target_compile_features(ddl_shared INTERFACE cxx_std_20)
target_include_directories(ddl_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS ddl_shared EXPORT ddl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libddl)
install(DIRECTORY include/ddl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libddl)
install(EXPORT ddl FILE ddlConfig.cmake NAMESPACE ddl:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ddl COMPONENT libddl)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/ddlConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH PKG_ROOT "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(PKG_LIBDIR ${CMAKE_INSTALL_LIBDIR})
file(READ ddl.pc.in pkg_config)
string(REPLACE "\${pcfiledir}/../.." "\${pcfiledir}/${PKG_ROOT}" pkg_config "${pkg_config}")
string(CONFIGURE "${pkg_config}" pkg_config @ONLY)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/ddl.pc" "${pkg_config}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ddlConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ddl COMPONENT libddl)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ddl.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libddl)

# The same files once more, as distributions divide them: what programs need to run, and to be built.
set(package EXCLUDE_FROM_ALL COMPONENT)
install(TARGETS ddl_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP ${package} libddl_package)
install(TARGETS ddl_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_ONLY ${package} libddl_dev_package)
install(DIRECTORY include/ddl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${package} libddl_dev_package)
install(EXPORT ddl FILE ddlConfig.cmake NAMESPACE ddl:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ddl ${package}
        libddl_dev_package)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ddlConfigVersion.cmake" DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ddl
        ${package} libddl_dev_package)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ddl.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${package}
        libddl_dev_package)
