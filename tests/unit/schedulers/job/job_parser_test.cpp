// SPDX-License-Identifier: MIT
// tests/golden/jobs: each directory has a ddlrun.yaml and what must come of it.
#include "tests/unit/schedulers/job_texts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace ddlrun;
using ddlrun::tests::read_job_text;
using ddlrun::tests::read_test_file;

std::vector<std::filesystem::path> directories_in(const std::string& kind) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(DDLRUN_TEST_DATA "/../golden/jobs/" + kind)) {
    all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

void compare(const std::filesystem::path& dir, const std::string& found) {
  const std::filesystem::path expected = dir / "expected.txt";
  if (std::getenv("DDLRUN_WRITE_GOLDEN") != nullptr) std::ofstream(expected, std::ios::binary) << found;
  CHECK(read_test_file(expected) == found);
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/job_parser");

TEST_CASE("jobs that are well described") {
  const auto dirs = directories_in("valid");
  CHECK(dirs.size() >= 7);
  for (const auto& dir : dirs) {
    CAPTURE(dir);
    const auto text = read_job_text(read_test_file(dir / "ddlrun.yaml"));
    CHECK(text.errors == "");
    compare(dir, text.job);
  }
}

TEST_CASE("each mistake is reported with its place and a way out") {
  const auto dirs = directories_in("invalid");
  CHECK(dirs.size() >= 57);
  for (const auto& dir : dirs) {
    CAPTURE(dir);
    const auto text = read_job_text(read_test_file(dir / "ddlrun.yaml"));
    CHECK(text.errors != "");
    compare(dir, text.errors);
  }
}

TEST_CASE("the KISTI job fits twelve lines") {
  const std::string yaml = read_test_file(DDLRUN_TEST_DATA "/../golden/jobs/valid/kisti_caffe/ddlrun.yaml");
  CHECK(std::count(yaml.begin(), yaml.end(), '\n') <= 12);
}

TEST_SUITE_END();
