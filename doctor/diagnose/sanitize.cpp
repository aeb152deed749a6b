// SPDX-License-Identifier: MIT
#include "doctor/diagnose/sanitize.hpp"

#include "base/text/text.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

std::string sanitize(std::string_view text, std::size_t limit) {
  std::string plain(text.substr(0, limit + 4));
  std::replace(plain.begin(), plain.end(), '\t', ' ');
  return printable(plain, limit);
}

}  // namespace ddlrun::diagnose
