// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/line_from.hpp"
#include "base/text/text.hpp"
#include "bench/predict/measured_sums.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ddlrun::bench_predict {
namespace {

using SumsJson = nlohmann::ordered_json;

[[noreturn]] void refuse_sums(const std::string& what, const std::string& where) {
  throw Error(
      ErrorKind::request,
      {what, where, "ddlrun bench allreduce 1x2 h1,h2 --json sums.json -- --sizes 4k:16M --backends ddl"});
}

}  // namespace

MeasuredSums parse_measured_sums(std::string_view text, const std::string& where) {
  // ddl-bench prints lines before the document, where both go to stdout.
  const std::string_view line = line_from(text, "{\"schema\"");
  const SumsJson json = line.empty() ? SumsJson() : SumsJson::parse(line, nullptr, false);
  if (!json.is_object() || json.value("schema", "") != "ddl-bench.allreduce/1")
    refuse_sums("no document of bench allreduce", where);
  try {
    MeasuredSums measured;
    const int hosts = json.at("hosts").get<int>();
    if (hosts < 2) refuse_sums("the sums were measured on one host: no network is in them", where);
    measured.shape.levels.clear();
    const auto dims = split(json.at("dims").get_ref<const std::string&>(), 'x');
    for (std::size_t i = 1; i < dims.size(); ++i)
      measured.shape.levels.push_back(static_cast<int>(parse_unsigned(dims[i], 1U << 20U).value_or(0)));
    int planned = 1;
    for (const int ranks : measured.shape.levels) planned *= ranks;
    if (planned != hosts) refuse_sums("its dims and its number of hosts differ", where);
    measured.shape.ranks_a_host = std::max(1, json.at("ranks").get<int>() / hosts);
    for (const SumsJson& size : json.at("sizes"))
      for (const SumsJson& backend : size.at("backends"))
        if (backend.at("backend") == "ddl")
          measured.sums.push_back(
              {size.at("bytes").get<double>(), backend.at("us_median").get<double>() * 1e-6});
    if (measured.sums.empty()) refuse_sums("no sums of the backend ddl are in it", where);
    return measured;
  } catch (const SumsJson::exception& error) {
    refuse_sums(fmt::format("a field is missing or wrong: {}", printable(error.what())), where);
  }
}

}  // namespace ddlrun::bench_predict
