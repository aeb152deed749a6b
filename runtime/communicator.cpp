// SPDX-License-Identifier: MIT
#include "runtime/communicator.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
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

// An error as text for gather_all; "" is success. Paths may hold any byte, so invalid UTF-8 is replaced.
std::string pack(const Error& error, const std::string& from) {
  const Message& message = error.message();
  return nlohmann::json{{"kind", static_cast<int>(error.kind())},
                        {"what", message.what},
                        {"where", message.where},
                        {"hint", message.hint},
                        {"from", from}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct Failure {
  ErrorKind kind;
  Message message;
  std::string from;
};

std::optional<Failure> unpack(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto json = nlohmann::json::parse(text);
  return Failure{static_cast<ErrorKind>(json.at("kind").get<int>()),
                 {json.at("what"), json.at("where"), json.at("hint")},
                 json.at("from")};
}

}  // namespace

std::string rank_name(const Communicator& ranks) {
  return fmt::format("rank {} {}", ranks.rank(), host_name());
}

void run_agreed(Communicator& ranks, const std::function<void()>& work) {
  std::string mine;
  try {
    work();
  } catch (const Error& error) {
    mine = pack(error, rank_name(ranks));
  }
  std::optional<Failure> first;
  bool everywhere = true;
  for (const std::string& text : ranks.gather_all(mine)) {
    const std::optional<Failure> failure = unpack(text);
    if (!first) first = failure;
    everywhere = everywhere && failure && failure->message == first->message;
  }
  if (!first) return;
  if (!everywhere) first->message.what = fmt::format("[{}] {}", first->from, first->message.what);
  throw AgreedError(first->kind, first->message);
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
  throw AgreedError(kind, {what, fmt::format("{}: {}; {}", names[0], all[0], others), hint});
}

}  // namespace ddlrun::runtime
