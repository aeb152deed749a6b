// SPDX-License-Identifier: MIT
#include "doctor/diagnose/following_lines.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/salient_lines.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/usage_footer.hpp"
#include "doctor/diagnose/words.hpp"

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t most_following = 3;
constexpr std::uint64_t max_gap = 6;
constexpr std::size_t same_begin = 24;  // so many bytes in common: the next of a list of like messages

bool is_of_stack(std::string_view text) {
  constexpr std::string_view begins[] = {"at ", "File \"", "Traceback (", "During handling of the above",
                                         "#"};
  return starts_with_any(text, begins);
}

bool is_report(std::string_view text) { return has_any(text, {" INFO ", "INFO:", "[INFO]", "[I ", "DEBUG"}); }

}  // namespace

void add_following(std::vector<EvidenceLine>& following, std::uint64_t last, std::uint64_t line,
                   std::string_view text) {
  text = trim(text);
  if (following.size() >= most_following || line > last + max_gap || text.empty()) return;
  if (is_of_stack(text) || is_report(text) || is_boilerplate(text) || is_decoration(text) ||
      is_usage_footer(text))
    return;
  const bool is_alike = !following.empty() && text.size() >= same_begin &&
                        following.back().text.starts_with(text.substr(0, same_begin));
  if (is_alike) return;
  following.push_back({line, sanitize(text, 300)});
}

}  // namespace ddlrun::diagnose
