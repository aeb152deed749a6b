// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/line_from.hpp"
#include "base/text/utf8.hpp"
#include "bench/against/sums_against.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ddlrun::bench_against {
namespace {

using SumsJson = nlohmann::ordered_json;

constexpr std::string_view sums_schema = "ddl-bench.allreduce/1";

}  // namespace

SumsOfRun parse_sums(std::string_view text, const std::string& where) {
  // Lines of a launcher may stand before the document.
  const std::string_view line = line_from(text, "{\"schema\":\"" + std::string(sums_schema));
  const SumsJson json = line.empty() ? SumsJson() : SumsJson::parse(line, nullptr, false);
  try {
    SumsOfRun run;
    run.mpi = json.at("mpi").get<std::string>();
    run.ranks = json.at("ranks").get<int>();
    run.hosts = json.at("hosts").get<int>();
    run.type = json.at("type").get<std::string>();
    for (const SumsJson& size : json.at("sizes")) {
      TimesOfSize& times = run.sizes[size.at("bytes").get<std::size_t>()];
      for (const SumsJson& backend : size.at("backends")) {
        times[backend.at("backend").get<std::string>()] = backend.at("us_min").get<double>() / 1e6;
        run.wrong += backend.at("wrong").get<std::size_t>();
      }
    }
    run.documents = {json.dump()};
    return run;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::request, {fmt::format("ddl-bench printed no {} document", sums_schema), where,
                                     "ddlrun bench allreduce 2 --json -   # and look at its output"});
  }
}

std::string render_against_json(const std::vector<SumsOfRun>& runs, const std::vector<std::string>& notes) {
  SumsJson json = {{"schema", "ddlrun.bench.against/1"}, {"notes", notes}, {"runs", SumsJson::array()}};
  for (const SumsOfRun& run : runs)
    for (const std::string& document : run.documents) json["runs"].push_back(SumsJson::parse(document));
  return escape_json(json.dump(-1, ' ', false, SumsJson::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::bench_against
