// SPDX-License-Identifier: MIT
#include "runtime/comm/communicator.hpp"

#include "runtime/core/error_json.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>

namespace ddlrun::runtime {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

}  // namespace

std::string rank_name(const Communicator& ranks) {
  return fmt::format("rank {} {}", ranks.rank(), host_name());
}

void run_collectively(Communicator& ranks, const std::function<void()>& work) {
  std::string mine;
  try {
    work();
  } catch (const Error& error) {
    mine = render_failure({error.kind(), error.message(), rank_name(ranks)});
  }
  std::optional<Failure> first;
  bool everywhere = true;
  for (const std::string& text : ranks.gather_all(mine)) {
    const std::optional<Failure> failure = parse_failure(text);
    if (!first) first = failure;
    everywhere = everywhere && failure && failure->message == first->message;
  }
  if (!first) return;
  if (!everywhere) first->message.what = fmt::format("[{}] {}", first->from, first->message.what);
  throw CollectiveError(first->kind, first->message);
}

void require_equal(Communicator& ranks, const std::string& mine, ErrorKind kind, const std::string& what,
                   const std::string& hint) {
  const std::vector<std::string> all = ranks.gather_all(mine);
  const std::vector<std::string> names = ranks.gather_all(rank_name(ranks));
  std::string others;
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] != all[0]) others += fmt::format("{}{}: {}", others.empty() ? "" : "; ", names[r], all[r]);
  }
  if (others.empty()) return;
  throw CollectiveError(kind, {what, fmt::format("{}: {}; {}", names[0], all[0], others), hint});
}

}  // namespace ddlrun::runtime
