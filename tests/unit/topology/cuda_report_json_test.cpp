// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "topology/cuda_report.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::topology;

namespace {

CudaReport two_gpus() {
  CudaReport report{12020, 12040, 21803, {}, {}};
  report.devices = {{"0000:03:00.0", "Tesla P100-SXM2-16GB", "GPU-aa", 17071734784},
                    {"0000:04:00.0", "Tesla P100-SXM2-16GB", "GPU-bb", 17071734784}};
  report.links = {{{}, {true, true, 0}}, {{true, false, 1}, {}}};
  return report;
}

}  // namespace

TEST_SUITE_BEGIN("topology/cuda_report_json");

TEST_CASE("a report that is written and read is the same") {
  for (const CudaReport& report : {two_gpus(), CudaReport{}}) {
    const std::string text = render_cuda_json(report);
    CHECK(text.starts_with(R"({"schema":"ddlrun.cuda/1",)"));
    CHECK(text.find('\n') == text.size() - 1);  // one line, as the child process sends it
    CHECK(parse_cuda_json(text, "child") == report);
  }
}

TEST_CASE("bytes that are no UTF-8 do not end the report") {
  CudaReport report = two_gpus();
  report.devices[0].name = "GPU \xff";
  CHECK(parse_cuda_json(render_cuda_json(report), "child").devices[0].name == "GPU \xef\xbf\xbd");
}

TEST_CASE("anything else is refused with its place") {
  const std::string good = render_cuda_json(two_gpus());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {std::string(), std::string("{}"), good.substr(0, good.size() / 2), replaced("cuda/1", "cuda/2"),
        replaced("\"uuid\"", "\"id\""), replaced("12020", "\"new\""),
        replaced(R"("links":[[)", R"("links":[[],[)")}) {
    CAPTURE(text);
    try {
      parse_cuda_json(text, "the child's answer");
      FAIL_CHECK("it was read");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::request);
      CHECK(error.message().where == "the child's answer");
    }
  }
}

TEST_SUITE_END();
