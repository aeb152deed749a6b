// SPDX-License-Identifier: MIT
#include "base/os/configuration_path.hpp"

#include "base/os/path_owner.hpp"
#include "base/text/error.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace ddlrun;

using Paths = std::vector<std::string>;

TEST_SUITE_BEGIN("base/os/configuration_path");

TEST_CASE("the user's directory, that of the prefix, /etc/ddlrun; DDLRUN_SITE_DIR instead of the last two") {
  struct Row {
    const char *executable, *home, *xdg, *site;
    Paths directories;
  };
  const Row rows[] = {
      {"/usr/bin/ddlrun", "/home/me", "", "", {"/home/me/.config/ddlrun", "/etc/ddlrun"}},
      {"/usr/local/bin/ddlrun", "", "", "", {"/usr/local/etc/ddlrun", "/etc/ddlrun"}},
      {"/opt/ddlrun/0.1/bin/ddlrun",
       "/home/me",
       "/c",
       "",
       {"/c/ddlrun", "/opt/ddlrun/0.1/etc/ddlrun", "/etc/ddlrun"}},
      {"/bin/ddlrun", "", "", "", {"/etc/ddlrun"}},
      {"/home/me/ddlrun", "", "relative", "", {"/etc/ddlrun"}},
      {"/opt/ddlrun/bin/ddlrun", "/home/me", "", "/site", {"/home/me/.config/ddlrun", "/site"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.executable);
    Environment environment;
    environment.executable = row.executable;
    environment.variables = {{"HOME", row.home}, {"XDG_CONFIG_HOME", row.xdg}, {"DDLRUN_SITE_DIR", row.site}};
    CHECK(find_configuration_directories(environment) == row.directories);
  }
  Environment relative;
  relative.variables["DDLRUN_SITE_DIR"] = "site";
  CHECK_THROWS_AS(find_configuration_directories(relative), Error);
}

TEST_CASE("the nearest file comes first; one that another user can change is refused, unless it is hidden") {
  tests::FakeSystem fake;
  tests::FakeHostInfo kernel;
  System system = fake.interfaces();
  system.kernel = &kernel;
  fake.environment.variables["HOME"] = "/home/me";
  const std::string near = "/opt/ddlrun/etc/ddlrun/sites/x.yaml", far = "/etc/ddlrun/sites/x.yaml";
  CHECK_FALSE(find_configuration_file(system, "sites/x.yaml").has_value());
  fake.files.files = {{near, ""}, {far, ""}};
  kernel.add(near);
  kernel.add(far);
  kernel.add("/etc/ddlrun/sites/a.yaml");
  kernel.add("/etc/ddlrun/sites/.yaml");
  kernel.add("/etc/ddlrun/sites/README");
  CHECK(find_configuration_files(system, "sites/x.yaml") == Paths{near, far});
  CHECK(list_configuration_names(system, "sites", ".yaml") == Paths{"a", "x"});
  fake.files.foreign[far] = "it belongs to user 1004";
  CHECK(find_configuration_file(system, "sites/x.yaml") == near);
  try {
    find_configuration_files(system, "sites/x.yaml");
    FAIL("taken");
  } catch (const Error& error) {
    CHECK(error.message().what == far + " is not read: it belongs to user 1004");
    CHECK(error.message().hint.starts_with("chown root " + far));
  }
}

TEST_CASE("who can change a file: its owner, everyone by its mode, or by that of a directory") {
  if (::geteuid() != 0) return;  // only root can give a file to another user
  std::string base = "/tmp/ddlrun-writer-XXXXXX";
  REQUIRE(::mkdtemp(base.data()) != nullptr);
  const std::string file = base + "/config.yaml";
  std::ofstream(file) << "queue: x\n";
  const auto writer_of = [&](mode_t mode, uid_t owner) {
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    REQUIRE(::chown(file.c_str(), owner, 0) == 0);
    return find_foreign_writer(file);
  };
  CHECK(writer_of(0644, 0).empty());
  CHECK(writer_of(0664, 0).empty());  // the group is the site's
  CHECK(writer_of(0666, 0) == "every user can write to " + file);
  CHECK(writer_of(0644, 65534) == "it belongs to user 65534");
  REQUIRE(writer_of(0644, 0).empty());
  REQUIRE(::chmod(base.c_str(), 0777) == 0);
  CHECK(find_foreign_writer(file) == "every user can write to " + base);
  std::filesystem::remove_all(base);
}

TEST_SUITE_END();
