// SPDX-License-Identifier: MIT
#include "runtime/data/open_images.hpp"

#include "base/text/text.hpp"
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
  run_collectively(ranks, [&] {
    const DatasetPath place = find_data(request.train);
    request.train = expand_placeholders(place.directory, host, ranks.rank());
    request.test = expand_placeholders(request.test, host, ranks.rank());
    opened.data = load_dataset(request);
    opened.reason = fmt::format("{}, {}", place.reason, opened.data.kind);
  });
  if (request.sharding != ShardBy::none) {
    const std::string subset =
        request.sharding == ShardBy::host ? host : fmt::format("rank {}", ranks.rank());
    join_subsets(opened.data, subset, ranks);
  } else {
    require_equal(ranks,
                  fmt::format("{} + {} images, hash {:016x}", opened.data.train_images->count(),
                              opened.data.test_images->count(), fingerprint(opened.data)),
                  ErrorKind::request, "the images of the ranks differ",
                  "--data DIR with a directory on a shared file system, or --data-sharding host");
  }
  return opened;
}

std::string render_subsets(const Dataset& data) {
  if (!data.subsets) return "";
  constexpr std::size_t most_shown = 8;
  std::string text;
  std::size_t shown = 0;
  for (const Subset& subset : data.subsets->subsets) {
    if (++shown > most_shown) break;
    text += fmt::format("{}{} {} + {} for {} rank(s)", text.empty() ? "images: " : "; ",
                        printable(subset.name), subset.train_images, subset.test_images, subset.ranks);
  }
  if (data.subsets->subsets.size() > most_shown)
    text += fmt::format("; and {} more subsets", data.subsets->subsets.size() - most_shown);
  return text;
}

}  // namespace ddlrun::runtime
