// SPDX-License-Identifier: MIT
#include "runtime/app/data_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/option_parser.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::uint64_t longest_side_asked = 32'768;

}  // namespace

Sides parse_sides(const std::string& option, const std::string& text) {
  const std::size_t cross = text.find('x');
  const std::string height = text.substr(0, cross);
  const std::string width = cross == std::string::npos ? height : text.substr(cross + 1);
  return {static_cast<int>(parse_count(option, height, 1, longest_side_asked)),
          static_cast<int>(parse_count(option, width, 1, longest_side_asked))};
}

void parse_mean(const std::string& option, const std::string& text, DataRequest& request) {
  const bool numbers = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == ',' || c == '-' || c == 'e';
  });
  if (!numbers) {
    if (text.empty()) throw Error(ErrorKind::usage, {"the mean is empty", option, option + " 127.5"});
    request.mean_file = text;
    return;
  }
  for (const std::string_view word : split(text, ','))
    request.mean.push_back(static_cast<float>(parse_real(option, std::string(word), -1e6, 1e6)));
}

}  // namespace ddlrun::runtime
