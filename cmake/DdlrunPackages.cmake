# Debian and RPM packages: `cpack -G DEB` or `cpack -G RPM` in a build directory, or packaging/packages.sh. The packages are
# ddlrun, ddlrun-bench (ddl-bench and its plug-ins for MPI), libddl0.1 (the library and its plug-ins for MPI),
# libddl-dev, and as a Debian package python3-ddl. The plug-ins for CUDA are in none: CUDA and cuDNN
# come from outside of the distribution, and a package cannot depend on them.
set(CPACK_PACKAGE_NAME ddlrun)
set(CPACK_PACKAGE_VENDOR "the ddlrun authors")
set(CPACK_PACKAGE_CONTACT "the ddlrun authors <ddlrun@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "start distributed training on clusters and find out why it fails")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ddlrun ddlrun_bench libddl_package libddl_dev_package)
if(DDLRUN_RUNTIME)
  list(APPEND CPACK_COMPONENTS_ALL python_package)
endif()
# The directory of Python's modules is Debian's.
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/packaging/components.cmake")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/finish_packages.cmake")
set(libddl_name libddl${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(CPACK_COMPONENT_DDLRUN_DESCRIPTION
    "ddlrun starts distributed training on PBS and Slurm clusters and on servers\nreachable by ssh, binds each rank to its planned cores and GPU, checks hosts\nand reports the cause when a job fails. With ddl-train, a trainer for images.")
set(CPACK_COMPONENT_DDLRUN_BENCH_DESCRIPTION
    "ddl-bench measures all-reduce: libddl beside MPI_Allreduce, Gloo and NCCL.\n`ddlrun bench allreduce` starts it.")
set(CPACK_COMPONENT_LIBDDL_PACKAGE_DESCRIPTION
    "libddl sums, gathers and broadcasts arrays over all ranks of a job,\nin shared memory within a host and over TCP or MPI between hosts.\nThis package has the library.")
set(CPACK_COMPONENT_LIBDDL_DEV_PACKAGE_DESCRIPTION
    "libddl sums, gathers and broadcasts arrays over all ranks of a job,\nin shared memory within a host and over TCP or MPI between hosts.\nThis package has the headers for C++ and C, and files for CMake and pkg-config.")
set(CPACK_COMPONENT_PYTHON_PACKAGE_DESCRIPTION
    "libddl sums, gathers and broadcasts arrays over all ranks of a job,\nin shared memory within a host and over TCP or MPI between hosts.\nThis package has the Python module ddl, for NumPy arrays and PyTorch tensors.")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DDLRUN_PACKAGE_NAME ddlrun)
set(CPACK_DEBIAN_DDLRUN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_DDLRUN_PACKAGE_DEPENDS "${libddl_name} (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DDLRUN_PACKAGE_RECOMMENDS "openssh-client, hwloc-nox | hwloc")
set(CPACK_DEBIAN_DDLRUN_PACKAGE_SUGGESTS "ddlrun-bench, python3, openmpi-bin | mpich, slurm-client, bash-completion")
set(CPACK_DEBIAN_DDLRUN_BENCH_PACKAGE_NAME ddlrun-bench)
set(CPACK_DEBIAN_DDLRUN_BENCH_PACKAGE_SECTION science)
set(CPACK_DEBIAN_DDLRUN_BENCH_PACKAGE_DEPENDS "ddlrun (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DDLRUN_BENCH_PACKAGE_RECOMMENDS "openmpi-bin | mpich")
set(CPACK_DEBIAN_LIBDDL_PACKAGE_PACKAGE_NAME ${libddl_name})
set(CPACK_DEBIAN_LIBDDL_PACKAGE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBDDL_PACKAGE_PACKAGE_SUGGESTS "openmpi-bin | mpich")
# dpkg-shlibdeps of programs that link libddl reads this; the dependency is on the exact interface, "libddl 0.1". CPack has no
# such variable for one component. The other packages have no library.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_LIBDDL_PACKAGE_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/triggers")
set(CPACK_DEBIAN_LIBDDL_DEV_PACKAGE_PACKAGE_NAME libddl-dev)
set(CPACK_DEBIAN_LIBDDL_DEV_PACKAGE_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBDDL_DEV_PACKAGE_PACKAGE_DEPENDS "${libddl_name} (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBDDL_DEV_PACKAGE_PACKAGE_SUGGESTS "cmake, pkg-config")
set(CPACK_DEBIAN_PYTHON_PACKAGE_PACKAGE_NAME python3-ddl)
set(CPACK_DEBIAN_PYTHON_PACKAGE_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_PACKAGE_DEPENDS "python3 (>= 3.9), ${libddl_name} (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_PACKAGE_SUGGESTS "ddlrun, python3-numpy, python3-torch")
# They compile the module, so that root's Python leaves no files of its own.
set(CPACK_DEBIAN_PYTHON_PACKAGE_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/python3/postinst;${PROJECT_SOURCE_DIR}/packaging/python3/prerm")

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_DDLRUN_PACKAGE_NAME ddlrun)
set(CPACK_RPM_DDLRUN_PACKAGE_REQUIRES "${libddl_name} >= ${PROJECT_VERSION}")
set(CPACK_RPM_DDLRUN_BENCH_PACKAGE_NAME ddlrun-bench)
set(CPACK_RPM_DDLRUN_BENCH_PACKAGE_REQUIRES "ddlrun >= ${PROJECT_VERSION}")
set(CPACK_RPM_LIBDDL_PACKAGE_PACKAGE_NAME ${libddl_name})
# SUSE and older Red Hats have no trigger for a new library.
set(CPACK_RPM_LIBDDL_PACKAGE_POST_INSTALL_SCRIPT_FILE "${PROJECT_SOURCE_DIR}/packaging/ldconfig.sh")
set(CPACK_RPM_LIBDDL_PACKAGE_POST_UNINSTALL_SCRIPT_FILE "${PROJECT_SOURCE_DIR}/packaging/ldconfig.sh")
set(CPACK_RPM_LIBDDL_DEV_PACKAGE_PACKAGE_NAME libddl-devel)
set(CPACK_RPM_LIBDDL_DEV_PACKAGE_PACKAGE_GROUP Development/Libraries)
set(CPACK_RPM_LIBDDL_DEV_PACKAGE_PACKAGE_REQUIRES "${libddl_name} >= ${PROJECT_VERSION}")
# Directories of other packages.
foreach(directory IN ITEMS bash-completion bash-completion/completions fish fish/vendor_completions.d zsh zsh/site-functions
                           man man/man1 man/man5)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/${directory})
endforeach()
foreach(directory IN ITEMS cmake pkgconfig)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/${CMAKE_INSTALL_LIBDIR}/${directory})
endforeach()
list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/${CMAKE_INSTALL_LIBDIR} /usr/lib)
include(CPack)
