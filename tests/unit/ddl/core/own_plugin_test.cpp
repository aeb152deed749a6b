// SPDX-License-Identifier: MIT
// Which files may be loaded: no other user can exchange them, by the file, a directory or a link.
#include "ddl/core/own_plugin.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

TEST_SUITE_BEGIN("ddl/core/own_plugin");

namespace {

namespace fs = std::filesystem;
constexpr uid_t nobody = 65534;

class PluginTree {
 public:
  PluginTree() {
    std::string name = (fs::canonical(fs::temp_directory_path()) / "ddl_plugin_XXXXXX").string();
    path_ = mkdtemp(name.data());
    fs::create_directories(path_ / "top/lib/ddlrun");
    fs::create_directories(path_ / "links");
    std::ofstream(file()) << "x";
    for (const char* below : {"", "top", "top/lib", "top/lib/ddlrun", "links"}) set_mode(below, 0755);
    set_mode("top/lib/ddlrun/x.so", 0644);
    fs::create_symlink(path_ / "top/lib", path_ / "links/lib");
  }
  ~PluginTree() { fs::remove_all(path_); }
  PluginTree(const PluginTree&) = delete;
  PluginTree& operator=(const PluginTree&) = delete;
  std::string file() const { return path_ / "top/lib/ddlrun/x.so"; }
  std::string linked() const { return path_ / "links/lib/ddlrun/x.so"; }
  void set_mode(const std::string& below, mode_t mode) const {
    REQUIRE(chmod((path_ / below).c_str(), mode) == 0);
  }
  void give(const std::string& below) const { REQUIRE(lchown((path_ / below).c_str(), nobody, nobody) == 0); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a path through a link is loaded by the path that was checked") {
  const PluginTree tree;
  CHECK(ddl::find_trusted_file(tree.file(), geteuid()) == tree.file());
  CHECK(ddl::find_trusted_file(tree.linked(), geteuid()) == tree.file());
  CHECK(ddl::find_trusted_file(tree.file() + "x", geteuid()).empty());
}

TEST_CASE("a file below a directory in which others may write is not loaded") {
  struct Row {
    const char* below;
    mode_t mode;
    bool is_taken;
  };
  for (const Row& row :
       {Row{"top", 0777, false}, Row{"top/lib", 0777, false}, Row{"top/lib/ddlrun", 0777, false},
        Row{"top/lib/ddlrun/x.so", 0666, false}, Row{"", 0777, false}, Row{"top", 01777, true},
        Row{"top", 0775, true}, Row{"links", 0777, true}}) {
    CAPTURE(row.below);
    CAPTURE(row.mode);
    const PluginTree tree;
    tree.set_mode(row.below, row.mode);
    CHECK((ddl::find_trusted_file(tree.linked(), geteuid()) == tree.file()) == row.is_taken);
  }
}

TEST_CASE("the owners of directories count below a shared directory, and near the file") {
  if (geteuid() != 0) return;  // only root gives files away
  for (const char* below : {"top", "top/lib", "top/lib/ddlrun", "top/lib/ddlrun/x.so"}) {
    CAPTURE(below);
    const PluginTree tree;
    tree.give(below);
    CHECK(ddl::find_trusted_file(tree.file(), 0).empty());
    CHECK(ddl::find_trusted_file(tree.file(), nobody) == tree.file());
  }
}

TEST_SUITE_END();
