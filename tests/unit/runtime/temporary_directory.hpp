// SPDX-License-Identifier: MIT
// A directory that a test writes files into, gone with the test.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ddlrun::runtime {

using Bytes = std::vector<std::uint8_t>;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ddlrun-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // Makes the directories in `name`.
  void write(const std::string& name, const Bytes& bytes) const {
    const std::string file = path + "/" + name;
    std::filesystem::create_directories(file.substr(0, file.rfind('/')));
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  void write(const std::string& name, const std::string& text) const {
    write(name, Bytes(text.begin(), text.end()));
  }
  std::string path;
};

}  // namespace ddlrun::runtime
