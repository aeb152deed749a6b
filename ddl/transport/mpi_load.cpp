// SPDX-License-Identifier: MIT
#include "ddl/core/environment.hpp"
#include "ddl/core/own_plugin.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/mpi_plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <string_view>

namespace ddl {
namespace {

OwnPlugin plugin_of_libddl(MpiKind kind) {
  return {kind == MpiKind::open_mpi ? "libddl_mpi_openmpi.so" : "libddl_mpi_mpich.so",
          "the plug-in for MPI",
          "ranks of this launcher need",
          "install a libddl that was built with that MPI's development files; or connect the ranks without "
          "MPI: DDL_MASTER",
          "ddl_mpi_build",
          DDL_MPI_BUILD,
          "ddl_mpi_plugin"};
}

struct MpiLibrary {
  MpiKind kind;
  // Its names for the loader; last, the file that the plug-in was built with, which may lie elsewhere.
  std::vector<const char*> names;
};

const MpiLibrary& library_of(MpiKind kind) {
  static const MpiLibrary open_mpi{MpiKind::open_mpi, {"libmpi.so.40", DDL_OPENMPI_LIBRARY}};
  // Debian has it under a name of its own.
  static const MpiLibrary mpich{MpiKind::mpich, {"libmpi.so.12", "libmpich.so.12", DDL_MPICH_LIBRARY}};
  return kind == MpiKind::open_mpi ? open_mpi : mpich;
}

// Open MPI 1.10 is a libmpi.so.12 too, and not of MPICH's ABI.
bool is_of(MpiKind kind, void* library) {
  return (dlsym(library, "ompi_mpi_comm_world") != nullptr) == (kind == MpiKind::open_mpi);
}

// The file that the plug-in was built with may, on another machine, lie where another user can put one: "".
std::string trusted_library(const std::string& name) {
  return name.find('/') == std::string::npos ? name : find_trusted_file(name, 0);
}

// For all of the process: the plug-in finds MPI's functions there, and so do Open MPI's own plug-ins. Never
// closed. `why`: the loader's message about the first name.
bool load_library(const MpiLibrary& mpi, std::string& why) {
  for (const char* name : mpi.names) {
    const std::string file = trusted_library(name);
    if (file.empty()) continue;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library != nullptr && is_of(mpi.kind, library)) return true;
    const char* const error = library == nullptr ? dlerror() : nullptr;  // NOLINT(concurrency-mt-unsafe)
    if (why.empty()) why = error != nullptr ? error : fmt::format("{} is not of MPICH's ABI", name);
  }
  return false;
}

}  // namespace

std::vector<MpiKind> order_mpi(std::optional<MpiKind> loaded,
                               const std::function<const char*(const char*)>& variable) {
  if (loaded) return {*loaded};
  if (variable("OMPI_COMM_WORLD_RANK") != nullptr) return {MpiKind::open_mpi};
  if (variable("PMI_RANK") != nullptr) return {MpiKind::mpich, MpiKind::open_mpi};
  return {MpiKind::open_mpi, MpiKind::mpich};
}

std::optional<MpiKind> loaded_mpi() {
  std::optional<MpiKind> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const std::string_view path = info->dlpi_name;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        auto& kind = *static_cast<std::optional<MpiKind>*>(data);
        if (name.starts_with("libmpi.so.40")) kind = MpiKind::open_mpi;
        if (name.starts_with("libmpi.so.12") || name.starts_with("libmpich.so.12")) kind = MpiKind::mpich;
        return kind ? 1 : 0;
      },
      &found);
  return found;
}

void* open_plugin_of_mpi(const std::function<OwnPlugin(MpiKind)>& plugin_of) {
  const std::vector<MpiKind> order = order_mpi(loaded_mpi(), environment_variable);
  std::string missing;
  for (const MpiKind kind : order) {
    const OwnPlugin plugin = plugin_of(kind);
    const std::string path = find_own_plugin(plugin);
    if (path.empty() && order.size() > 1) continue;
    std::string why;
    if (!path.empty() && !load_library(library_of(kind), why)) {
      missing += (missing.empty() ? "" : "; ") + why;
      continue;
    }
    return open_own_plugin(plugin, path);
  }
  if (missing.empty()) open_own_plugin(plugin_of(order.front()), "");
  throw Error(Fault::unsupported, fmt::format("no MPI library for these ranks: {}", missing),
              "LD_LIBRARY_PATH and the system's library directories",
              "load the MPI of the launcher (module load, or LD_LIBRARY_PATH with its lib directory); or "
              "connect the ranks without MPI: DDL_MASTER, DDL_RANK, DDL_SIZE, DDL_TOKEN_FILE");
}

const MpiPlugin& load_mpi_plugin() {
  static const MpiPlugin* const plugin =
      reinterpret_cast<const MpiPlugin* (*)()>(open_plugin_of_mpi(plugin_of_libddl))();
  return *plugin;
}

}  // namespace ddl
