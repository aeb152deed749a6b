// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
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

// The nearest directory above the file that is called like a class, or "".
std::string class_of_directory(const SavedModel& model, const std::string& file) {
  const std::vector<std::string_view> parts = split(file, '/');
  for (std::size_t i = parts.size() - 1; i-- > 0;)
    if (std::ranges::find(model.class_names, parts[i]) != model.class_names.end())
      return std::string(parts[i]);
  return "";
}

}  // namespace

std::string render_csv_header(const SavedModel& model) {
  std::string line = "file,class,probability,directory_class";
  for (const std::string& name : model.class_names) line += "," + quote_csv(name);
  return line;
}

std::string render_prediction_csv(const SavedModel& model, const std::string& file,
                                  const std::vector<double>& shares) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin());
  std::string line = fmt::format("{},{},{:.6g},{}", quote_csv(file), quote_csv(model.class_names[best]),
                                 shares[best], quote_csv(class_of_directory(model, file)));
  for (const double share : shares) line += fmt::format(",{:.6g}", share);
  return line;
}

}  // namespace ddlrun::runtime
