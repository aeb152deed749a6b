// SPDX-License-Identifier: MIT
// A host made of tables, for the gatherers of doctor/: files are readable and listed alike.
#pragma once

#include "doctor/model/gather.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <string>
#include <string_view>

namespace ddlrun::tests {

struct FakeHost {
  FakeSystem system;
  FakeHostInfo kernel;
  doctor::ProbeRequest request;

  // A file with its content, seen by both interfaces.
  FileInfo& put(const std::string& path, const std::string& text) {
    system.files.files[path] = text;
    FileInfo& info = kernel.add(path);
    info.mode = 0644;
    info.size_bytes = text.size();
    return info;
  }
  void remove(const std::string& path) {
    system.files.files.erase(path);
    kernel.infos.erase(path);
  }

  // What one gatherer of a table, by its name, finds here; all of them where no name is given.
  doctor::Facts gather(std::span<const doctor::Gatherer> table, std::string_view name = {}) {
    System all = system.interfaces();
    all.kernel = &kernel;
    doctor::Facts facts;
    for (const doctor::Gatherer& gatherer : table) {
      if (name.empty() || gatherer.name == name) gatherer.gather({all, kernel, request, ""}, facts);
    }
    return facts;
  }
};

}  // namespace ddlrun::tests
