// SPDX-License-Identifier: MIT
#include "tests/unit/doctor/diagnose/examples.hpp"

#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ddlrun::tests {

namespace {

void read_word(Example& example, const std::string& word) {
  const auto equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (name == "status") {
    example.end.status = std::stoi(value);
  } else if (name == "from") {
    example.end.from = value == "mpirun"  ? diagnose::LogSource::mpirun
                       : value == "pbs"   ? diagnose::LogSource::pbs
                       : value == "slurm" ? diagnose::LogSource::slurm
                                          : throw std::runtime_error("from=" + value);
  } else if (name == "host") {
    example.host = value;
  } else if (name == "rank") {
    example.rank = std::stoi(value);
  } else {
    throw std::runtime_error(example.file + ":" + std::to_string(example.line) + ": '" + word + "'");
  }
}

Example read_header(const std::string& header, const std::string& file, int line) {
  std::istringstream words(header);
  std::string marks, verdict, word;
  Example example;
  example.file = file;
  example.line = line;
  words >> marks >> example.id >> verdict;
  if (verdict != "yes" && verdict != "no") throw std::runtime_error(file + ": " + header);
  example.positive = verdict == "yes";
  while (words >> word) read_word(example, word);
  return example;
}

void read_file(const std::filesystem::path& path, std::vector<Example>& examples) {
  std::ifstream file(path);
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.starts_with("=== "))
      examples.push_back(read_header(text, path.filename().string(), line));
    else if (!examples.empty())
      examples.back().text += text + "\n";
  }
}

}  // namespace

std::vector<Example> read_examples() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(DDLRUN_TEST_DATA "/diagnose")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Example> examples;
  for (const auto& path : paths) read_file(path, examples);
  return examples;
}

diagnose::Diagnosis diagnose_text(const std::string& text, const diagnose::RunStatus& end) {
  diagnose::LogAnalysis analysis(diagnose::builtin_signatures());
  analysis.begin_source("log");
  analysis.take(text);
  analysis.end_source();
  return analysis.diagnosis(end);
}

}  // namespace ddlrun::tests
