// SPDX-License-Identifier: MIT
#include "doctor/gather/manifest.hpp"

#include "base/os/posix_host_info.hpp"
#include "base/os/posix_system.hpp"
#include "base/text/text.hpp"
#include "tests/support/fake_host_info.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

using namespace ddlrun;
using namespace ddlrun::doctor;
using ddlrun::tests::FakeHostInfo;

namespace {

// The same files as one file system lists them and as another would.
struct Backwards : FakeHostInfo {
  bool visit_directory(const std::string& path, const DirectoryVisitor& visit) override {
    std::vector<std::pair<std::string, FileInfo::Kind>> all;
    const bool listed = FakeHostInfo::visit_directory(path, [&](std::string_view name, FileInfo::Kind kind) {
      all.emplace_back(name, kind);
      return true;
    });
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (!visit(at->first, at->second)) break;
    }
    return listed;
  }
};

template <typename HostInfo>
HostInfo filled(int files) {
  HostInfo kernel;
  for (int i = 0; i < files; ++i) {
    FileInfo& info = kernel.add("/data/part" + std::to_string(i % 7) + "/image" + std::to_string(i));
    info.size_bytes = static_cast<std::uint64_t>(i) * 3 + 1;
  }
  return kernel;
}

void check_same(const Manifest& a, const Manifest& b) {
  CHECK(a.files == b.files);
  CHECK(a.bytes == b.bytes);
  CHECK(a.names_hash == b.names_hash);
  CHECK(a.sizes_hash == b.sizes_hash);
}

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/manifest");

TEST_CASE("a manifest does not depend on the order in which files are listed") {
  for (const int files : {0, 1, 100, 3000}) {  // 3000: more than have their sizes read
    CAPTURE(files);
    FakeHostInfo one = filled<FakeHostInfo>(files);
    Backwards other = filled<Backwards>(files);
    one.add_directory("/data");
    other.add_directory("/data");
    const Manifest a = read_manifest(one, "/data", {}), b = read_manifest(other, "/data", {});
    check_same(a, b);
    CHECK(a.files == static_cast<std::uint64_t>(files));
    CHECK(a.has_bytes == (files <= 2000));
    CHECK(a.sample.size() == static_cast<std::size_t>(std::min(files, 64)));
    CHECK(a.complete);
  }
}

TEST_CASE("every single change changes the manifest") {
  FakeHostInfo before = filled<FakeHostInfo>(50);
  const Manifest a = read_manifest(before, "/data", {});
  const std::vector<std::pair<const char*, std::function<void(FakeHostInfo&)>>> changes{
      {"a file more", [](FakeHostInfo& kernel) { kernel.add("/data/part0/more"); }},
      {"a file less", [](FakeHostInfo& kernel) { kernel.infos.erase("/data/part3/image17"); }},
      {"another name",
       [](FakeHostInfo& kernel) {
         auto node = kernel.infos.extract("/data/part3/image17");
         node.key() = "/data/part3/image18";
         kernel.infos.insert(std::move(node));
       }},
      {"another directory",
       [](FakeHostInfo& kernel) {
         auto node = kernel.infos.extract("/data/part3/image17");
         node.key() = "/data/part4/image17";
         kernel.infos.insert(std::move(node));
       }},
      {"a byte more", [](FakeHostInfo& kernel) { ++kernel.infos["/data/part3/image17"].size_bytes; }},
      {"sizes exchanged", [](FakeHostInfo& kernel) {
         std::swap(kernel.infos["/data/part3/image17"].size_bytes,
                   kernel.infos["/data/part4/image18"].size_bytes);
       }}};
  for (const auto& [what, change] : changes) {
    CAPTURE(what);
    FakeHostInfo kernel = filled<FakeHostInfo>(50);
    change(kernel);
    const Manifest b = read_manifest(kernel, "/data", {});
    CHECK((a.names_hash != b.names_hash || a.sizes_hash != b.sizes_hash));
  }
}

TEST_CASE("bounds, and what is not a directory") {
  FakeHostInfo kernel = filled<FakeHostInfo>(500);
  ManifestBounds bounds;
  bounds.entries = 100;
  CHECK_FALSE(read_manifest(kernel, "/data", bounds).complete);
  bounds.entries = 507;  // 7 directories
  CHECK(read_manifest(kernel, "/data", bounds).complete);
  bounds.time = std::chrono::milliseconds(-1);
  CHECK_FALSE(read_manifest(kernel, "/data", bounds).complete);
  CHECK(read_manifest(kernel, "/none", {}).state == Manifest::State::missing);
  kernel.add("/one").size_bytes = 7;
  const Manifest file = read_manifest(kernel, "/one", {});
  CHECK(file.state == Manifest::State::file);
  CHECK(file.bytes == 7);
  kernel.denied.insert({"/data/part3/image17", Access::read});
  kernel.denied.insert({"/data/part4", Access::read});
  const Manifest denied = read_manifest(kernel, "/data", {});
  CHECK(denied.denied == 2);
  kernel.denied.insert({"/data", Access::read});
  CHECK(read_manifest(kernel, "/data", {}).state == Manifest::State::unreadable);
}

TEST_CASE("a real directory, counted by find and du") {
  PosixFiles files;
  PosixProcesses processes;
  PosixHostInfo kernel;
  const std::string path =
      files.make_directory((std::filesystem::temp_directory_path() / "manifest.").string());
  files.make_directories(path + "/a/b");
  for (const char* name : {"/one", "/a/two", "/a/b/three with blanks"})
    files.write(path + name, std::string(1234, 'x'));
  std::filesystem::create_symlink("one", path + "/link");
  std::filesystem::create_directory_symlink(".", path + "/a/loop");  // is not followed
  const Manifest manifest = read_manifest(kernel, path, {});
  const auto count = processes.run({"find", path, "!", "-type", "d", "-printf", "x"}, {});
  CHECK(manifest.files == count.out.size());
  const auto bytes = processes.run({"find", path, "-type", "f", "-printf", "%s\n"}, {});
  std::uint64_t sum = 0;
  for (const auto line : split(trim(bytes.out), '\n')) sum += *parse_unsigned(line);
  CHECK(sum == 3 * 1234);
  CHECK(manifest.denied == 0);
  std::filesystem::remove_all(path);
}

TEST_SUITE_END();
