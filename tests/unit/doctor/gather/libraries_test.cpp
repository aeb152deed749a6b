// SPDX-License-Identifier: MIT
// Programs and libraries, found without running them: on made-up hosts by the loader's documented rules, and
// on this one against ldd, readelf and ldconfig.
#include "doctor/gather/libraries.hpp"

#include "base/text/text.hpp"
#include "tests/support/elf_image.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/real_host.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::doctor;
using ddlrun::tests::ElfImage;
using ddlrun::tests::FakeHost;
using ddlrun::tests::RealHost;

namespace {

struct Fake : FakeHost {
  System interfaces = system.interfaces();
  GatherContext context{interfaces, kernel, request, ""};
  Fake() { interfaces.kernel = &kernel; }
};

std::vector<std::string> missing_of(const LibraryTree& tree) {
  std::vector<std::string> names;
  for (const MissingLibrary& library : tree.missing) names.push_back(library.name);
  return names;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/libraries");

TEST_CASE("where the loader looks, in its order") {
  struct Row {
    const char* title;
    const char *rpath, *runpath, *library_path, *lies_in, *found;
  };
  for (const Row& row :
       {Row{"RUNPATH", "", "/opt/a", "", "/opt/a", "/opt/a/libx.so.1"},
        Row{"LD_LIBRARY_PATH before RUNPATH", "", "/opt/a", "/opt/b", "/opt/a /opt/b", "/opt/b/libx.so.1"},
        Row{"RPATH before LD_LIBRARY_PATH", "/opt/a", "", "/opt/b", "/opt/a /opt/b", "/opt/a/libx.so.1"},
        Row{"RPATH does not count beside RUNPATH", "/opt/a", "/opt/c", "/opt/b", "/opt/a /opt/b",
            "/opt/b/libx.so.1"},
        Row{"origin", "", "$ORIGIN/../lib", "", "/app/bin/../lib", "/app/bin/../lib/libx.so.1"},
        Row{"the system's own directories come last", "", "", "", "/usr/lib64", "/usr/lib64/libx.so.1"},
        Row{"nowhere", "", "/opt/a", "", "/opt/z", ""}}) {
    CAPTURE(row.title);
    Fake host;
    host.request.environment["LD_LIBRARY_PATH"] = row.library_path;
    host.put("/app/bin/train", ElfImage{{"libx.so.1"}, row.rpath, row.runpath, ""}.bytes());
    for (const std::string_view dir : split(row.lies_in, ' ')) {
      host.put(std::string(dir) + "/libx.so.1", ElfImage{{}, "", "", "libx.so.1"}.bytes());
    }
    const LibraryTree tree = find_libraries(host.context, "/app/bin/train");
    REQUIRE(tree.is_elf);
    CHECK(tree.missing.empty() == (*row.found != '\0'));
    if (*row.found != '\0') CHECK(tree.found.at("libx.so.1") == row.found);
  }
}

TEST_CASE("what a library needs is needed too; another architecture's file is passed over") {
  Fake host;
  host.put("/bin/train", ElfImage{{"liba.so"}, "", "/lib32:/lib64", ""}.bytes());
  host.put("/lib32/liba.so", ElfImage{{}, "", "", "liba.so", 183}.bytes());
  host.put("/lib64/liba.so", ElfImage{{"libb.so", "libgone.so.3"}, "", "", "liba.so"}.bytes());
  host.put("/lib64/libb.so", ElfImage{{"liba.so"}, "", "", "libb.so"}.bytes());  // a circle
  const LibraryTree tree = find_libraries(host.context, "/bin/train");
  CHECK(tree.found.at("liba.so") == "/lib64/liba.so");
  CHECK(tree.found.at("libb.so") == "/lib64/libb.so");
  REQUIRE(tree.missing.size() == 1);
  CHECK(tree.missing[0].name == "libgone.so.3");
  CHECK(tree.missing[0].needed_by == "/lib64/liba.so");
}

TEST_CASE("cut and spoiled files are no ELF files, or shorter ones, never a crash") {
  const std::string whole = ElfImage{{"liba.so", "libb.so"}, "/r", "/s", "me"}.bytes();
  const auto reader = [](const std::string& bytes) {
    return [&bytes](std::uint64_t offset, std::size_t count) -> std::optional<std::string> {
      return offset >= bytes.size() ? std::string() : bytes.substr(offset, count);
    };
  };
  REQUIRE(read_elf(reader(whole)));
  CHECK(read_elf(reader(whole))->needed == std::vector<std::string>{"liba.so", "libb.so"});
  for (std::size_t length = 0; length < 64; ++length) CHECK_FALSE(read_elf(reader(whole.substr(0, length))));
  for (std::size_t length = 64; length < whole.size(); length += 7) {
    const std::string cut = whole.substr(0, length);
    const auto elf = read_elf(reader(cut));
    if (elf) CHECK(elf->needed.size() <= 2);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\xff', '\x7f', '\0'}) {
      std::string spoiled = whole;
      spoiled[at] = value;
      const auto elf = read_elf(reader(spoiled));
      if (elf) CHECK(elf->needed.size() <= 256);
    }
  }
}

TEST_CASE("programs in PATH: the first that may be executed") {
  Fake host;
  host.request.environment["PATH"] = "bin:/opt/x/bin::/usr/bin:/home/u/bin";
  host.put("/usr/bin/orted", "");
  host.put("/home/u/bin/orted", "");
  host.put("/opt/x/bin/orted", "");
  host.kernel.denied.insert({"/opt/x/bin/orted", Access::execute});
  CHECK(find_in_path(host.context, "orted") == "/usr/bin/orted");
  CHECK(find_in_path(host.context, "prted") == "");
  CHECK(find_in_path(host.context, "/opt/x") == "/opt/x");
  host.request.workdir = "/home/u/job";
  CHECK(find_in_path(host.context, "./train") == "/home/u/job/./train");
}

TEST_CASE("links of files and of directories are followed, and circles end") {
  Fake host;
  host.kernel.add_link("/bin", "usr/bin");
  host.kernel.add_link("/usr/bin/mpirun", "/etc/alternatives/mpirun");
  host.kernel.add_link("/etc/alternatives/mpirun", "../../usr/bin/orterun");
  host.kernel.add_link("/a", "b");
  host.kernel.add_link("/b", "a");
  CHECK(real_path(host.context, "/bin/mpirun") == "/usr/bin/orterun");
  CHECK(real_path(host.context, "/usr/bin/orted") == "/usr/bin/orted");
  CHECK_NOTHROW(real_path(host.context, "/a/x"));
}

TEST_CASE("versions are compared by their numbers") {
  CHECK(compare_versions("2.9", "2.34") < 0);
  CHECK(compare_versions("2.34", "2.34") == 0);
  CHECK(compare_versions("2.34", "2.4.1") > 0);
  CHECK(compare_versions("5.0.0rc1", "5.0") == 0);
}

TEST_CASE("the libraries of real programs are those that ldd names") {
  RealHost here;
  if (here.processes.run({"ldd", "--version"}, {}).ok()) {
    for (const char* program : {"/usr/bin/ssh", "/bin/sh", "/usr/bin/orted"}) {
      CAPTURE(program);
      if (!here.files.exists(program)) continue;
      std::vector<std::string> wanted;
      const std::string stderr_text = here.output({"ldd", program});
      for (const std::string_view line : split(stderr_text, '\n')) {
        const auto arrow = line.find(" => /");
        if (arrow != std::string_view::npos) wanted.emplace_back(trim(line.substr(0, arrow)));
      }
      const LibraryTree tree = find_libraries(here.context, program);
      CHECK(missing_of(tree).empty());
      for (const std::string& name : wanted) {
        CAPTURE(name);
        CHECK(tree.found.count(name) == 1);
      }
      CHECK(tree.found.size() >= wanted.size());
      CHECK(tree.found.size() <= wanted.size() + 1);  // ldd shows the loader itself without an arrow
    }
  }
}

TEST_CASE("build id, interpreter and glibc of a real program are those that readelf names") {
  RealHost here;
  const std::string notes = here.output({"readelf", "-n", "/usr/bin/env"});
  const auto at = notes.find("Build ID: ");
  const auto elf = read_elf_file(here.context, "/usr/bin/env");
  REQUIRE(elf);
  if (at != std::string::npos) {
    CHECK(elf->build_id == notes.substr(at + 10, 40));
    CHECK(here.output({"readelf", "-l", "/usr/bin/env"}).find(elf->interpreter) != std::string::npos);
    const std::string versions = here.output({"readelf", "-V", "/usr/bin/env"});
    CHECK(versions.find("GLIBC_" + elf->glibc + " ") != std::string::npos);
    std::string newest;
    for (auto found = versions.find("GLIBC_2."); found != std::string::npos;
         found = versions.find("GLIBC_2.", found + 1)) {
      const std::string version =
          versions.substr(found + 6, versions.find_first_not_of("0123456789.", found + 6) - found - 6);
      if (newest.empty() || compare_versions(version, newest) > 0) newest = version;
    }
    CHECK(elf->glibc == newest);
  }
}

TEST_CASE("the loader's cache holds what ldconfig prints") {
  RealHost here;
  const std::string stderr_text = here.output({"/sbin/ldconfig", "-p"});
  const auto bytes = read_small(here.context, "/etc/ld.so.cache", 8u << 20);
  if (!stderr_text.empty() && bytes) {
    const auto names = parse_loader_cache(*bytes);
    const auto count = parse_unsigned(stderr_text.substr(0, stderr_text.find(' ')));
    REQUIRE(count);
    CHECK(names.size() == *count);
    CHECK(names.count("libc.so.6") >= 1);
  }
  CHECK(parse_loader_cache("").empty());
  CHECK(parse_loader_cache("glibc-ld.so.cache1.1\xff\xff\xff\xff").empty());
  if (bytes) {
    for (std::size_t length = 0; length < 400; ++length) parse_loader_cache(bytes->substr(0, length));
  }
}

TEST_SUITE_END();
