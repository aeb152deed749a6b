// SPDX-License-Identifier: MIT
#include "runtime/app/predict_photos.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

std::string quote_csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string render_csv_header(const SavedModel& model) {
  std::string line = "file,class,probability";
  for (const std::string& name : model.class_names) line += "," + quote_csv(name);
  return line;
}

std::string render_prediction_csv(const SavedModel& model, const std::string& file,
                                  const std::vector<double>& shares) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin());
  std::string line =
      fmt::format("{},{},{:.6g}", quote_csv(file), quote_csv(model.class_names[best]), shares[best]);
  for (const double share : shares) line += fmt::format(",{:.6g}", share);
  return line;
}

}  // namespace ddlrun::runtime
