// SPDX-License-Identifier: MIT
// What a Python script imports and names, without comments and strings. It is read, never run; no grammar,
// only what detection needs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::frameworks {

constexpr std::size_t most_script_bytes = 256 * 1024;
constexpr std::size_t most_module_bytes = 64 * 1024;  // of a module beside the script
constexpr std::size_t most_modules = 16;

struct PythonWords {
  std::map<std::string, int> imports;  // "torch.nn.parallel.DistributedDataParallel" -> its first line
  std::map<std::string, int> names;    // each name of the code, also behind a dot -> its first line

  // The line of an import of the module or of something in it, or 0.
  int imports_module(std::string_view module) const;
  int names_word(const std::string& word) const;  // line or 0
};

// The files that the imports may mean beside the script: of "a.b" a.py, a/__init__.py and a/b.py. Each once.
std::vector<std::string> imported_files(const PythonWords& words);

// `text` may be the first part of a script.
PythonWords read_python_words(std::string_view text);

}  // namespace ddlrun::frameworks
