// SPDX-License-Identifier: MIT
// Files that somebody damaged: each is taken, or refused with a location and a remedy. DDLRUN_MUTATIONS says
// how many.
#include "runtime/caffe/caffe_options.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/runtime/caffe/caffe_support.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace ddlrun::runtime {
namespace {

// Words that stand where they may hurt.
constexpr const char* hostile_words[] = {
    "{",
    "}",
    "\"",
    "layer {",
    "0",
    "-1",
    "4294967295",
    "99999999999999999999",
    "1e38",
    "nan",
    "inf",
    "\"\"",
    "bottom: \"data\"",
    "top: \"data\"",
    "type: \"Scale\"",
    "type: \"Flatten\"",
    "type: \"Concat\"",
    "type: \"SoftmaxWithLoss\"",
    "kernel_size: 0",
    "num_output: 4294967295",
    "pad: 4294967295",
    "group: 0",
    "include { phase: TEST }",
    "\xff\xfe",
    "\n",
    "[",
    "]",
    "<",
    ">",
    "layers {",
    "input_dim: -5",
    "input: \"data\"",
    "param { lr_mult: -1 }",
    "propagate_down: false",
    "loss_weight: 0",
    "blobs { data: 1 }",
    "[google.a/b] { }",
    "shape { dim: 0 }",
    "stepvalue: -3",
    "net_param {",
    "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
};

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> all_prototxts() {
  std::vector<std::string> texts;
  for (const std::string& directory : {prototxt_file("valid"), example_file("")}) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() == ".prototxt") texts.push_back(read_text(entry.path()));
    }
  }
  REQUIRE(texts.size() == 13);
  return texts;
}

std::string mutate(std::string text, const std::vector<std::string>& all, std::mt19937& random) {
  const auto below = [&](std::size_t count) {
    return std::size_t{random()} % std::max<std::size_t>(1, count);
  };
  for (std::size_t times = 1 + below(3); times > 0; --times) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(40, text.size() - at + 1));
    switch (below(6)) {
      case 0:
        text.insert(at, hostile_words[below(std::size(hostile_words))]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3: {  // some lines of another file
        const std::string& other = all[below(all.size())];
        text.insert(at, other.substr(below(other.size()), 300));
        break;
      }
      case 4:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.replace(at, length, hostile_words[below(std::size(hostile_words))]);
    }
  }
  return text.substr(0, 20'000);
}

// As the program would; nothing but an Error with a location and a remedy may come out.
bool take(const std::string& text) {
  CaffeReport report;
  try {
    CaffeRun run;
    if (text.find("base_lr") != std::string::npos)
      run.solver = parse_caffe_solver(text, "f", report);
    else
      run.net = parse_caffe_net({text, "f"}, nullptr, report);
    report.check();
    if (!run.net) return true;
    plan_caffe_net(*run.net, run.net->net.images.empty() ? Shape{3, 227, 227} : run.net->net.images[0], 2);
    const std::vector<std::string> words{"--data", "d"};
    merge_caffe_options(run, words);
    return true;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::request);
    CHECK_MESSAGE(error.message().where.starts_with("f"), error.message().where);
    return false;
  }
}

}  // namespace
TEST_SUITE_BEGIN("runtime/caffe/caffe_fuzz");

// namespace

TEST_CASE("caffe files: large hostile ones are refused soon") {
  constexpr std::size_t size = ddlrun::testing::with_asan ? 200'000 : 1'000'000;
  for (const char* part : {"a: 1 ", "layer { } ", "layer { bottom: \"x\" type: \"ReLU\" } ", "layers { } ",
                           "input: \"a\" ", "state { stage: \"s\" } ", "{", "layer {", "# "}) {
    CAPTURE(std::string(part));
    std::string text;
    while (text.size() < size) text += part;
    CHECK(!take(text));
  }
}

TEST_CASE("caffe files: mutated ones are taken or refused") {
  const char* asked = std::getenv("DDLRUN_MUTATIONS");
  const int count = asked == nullptr ? 500 : std::atoi(asked);
  const std::vector<std::string> all = all_prototxts();
  std::mt19937 random(20'170'614);
  int taken = 0;
  for (int i = 0; i < count; ++i) {
    const std::string text = mutate(all[static_cast<std::size_t>(i) % all.size()], all, random);
    CAPTURE(i);
    taken += take(text) ? 1 : 0;
  }
  MESSAGE(taken, " of ", count, " mutated files were taken");
  CHECK(taken > 0);
  CHECK(taken < count);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
