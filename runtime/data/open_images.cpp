// SPDX-License-Identifier: MIT
#include "runtime/data/open_images.hpp"

#include "base/text.hpp"
#include "runtime/data/host_subsets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace ddlrun::runtime {
namespace {

std::string own_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown-host";
}

}  // namespace

OpenedImages open_images(DataRequest request, Communicator& ranks) {
  OpenedImages opened;
  const std::string host = own_host();
  run_agreed(ranks, [&] {
    const DataPlace place = find_data(request.train);
    request.train = fill_place(place.directory, host, ranks.rank());
    request.test = fill_place(request.test, host, ranks.rank());
    opened.data = load_dataset(request);
    opened.reason = fmt::format("{}, {}", place.reason, opened.data.kind);
  });
  if (request.split != SplitBy::none) {
    const std::string part = request.split == SplitBy::host ? host : fmt::format("rank {}", ranks.rank());
    join_parts(opened.data, part, ranks);
  } else {
    require_equal(ranks,
                  fmt::format("{} + {} images, hash {:016x}", opened.data.train_images->count(),
                              opened.data.test_images->count(), fingerprint(opened.data)),
                  ErrorKind::request, "the ranks read different images",
                  "--data DIR with a directory that all hosts share, or --data-sharding host");
  }
  return opened;
}

std::string render_parts(const Dataset& data) {
  if (!data.split) return "";
  constexpr std::size_t most_shown = 8;
  std::string text;
  std::size_t shown = 0;
  for (const DataPart& part : data.split->parts) {
    if (++shown > most_shown) break;
    text += fmt::format("{}{} {} + {} for {} rank(s)", text.empty() ? "images: " : "; ", printable(part.name),
                        part.train_images, part.test_images, part.ranks);
  }
  if (data.split->parts.size() > most_shown)
    text += fmt::format("; and {} more parts", data.split->parts.size() - most_shown);
  return text;
}

}  // namespace ddlrun::runtime
