// SPDX-License-Identifier: MIT
#include "runtime/data/host_subsets.hpp"

#include "base/text/text.hpp"
#include "runtime/core/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace ddlrun::runtime {
namespace {

// Serializes a rank's subset; doubles as their bits.
struct PartFacts {
  std::string subset;
  std::string hash;
  std::string shape;
  std::size_t train_images = 0;
  std::size_t test_images = 0;
  int classes = 0;
  std::string class_names;  // their hash, "" where they have none
  std::vector<Moments> moments;
};

std::uint64_t read_hex(std::string_view text) {
  return std::strtoull(std::string(text).c_str(), nullptr, 16);
}

// No directory's name holds a "/".
std::string join_names(const ClassDirectories& directories) { return join(directories.names, "/"); }

std::string hash_names(const ClassDirectories& directories) {
  const std::string names = join_names(directories);
  return names.empty() ? "" : fmt::format("{:016x}", hash_bytes(std::as_bytes(std::span(names))));
}

std::string render_facts(const Dataset& data, const std::string& subset) {
  const Shape shape = data.train_images->shape();
  std::string text = fmt::format("{}\n{:016x}\n{}x{}x{}\n{:x}\n{:x}\n{:x}\n{}", subset, fingerprint(data),
                                 shape.channels, shape.height, shape.width, data.train_images->count(),
                                 data.test_images->count(), data.classes, hash_names(data.class_directories));
  for (const Moments& one : data.moments) {
    for (const double value : {one.count, one.sum, one.squares})
      text += fmt::format("\n{:x}", std::bit_cast<std::uint64_t>(value));
  }
  return text;
}

PartFacts parse_facts(const std::string& text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  PartFacts facts;
  facts.subset = lines[0];
  facts.hash = lines[1];
  facts.shape = lines[2];
  facts.train_images = read_hex(lines[3]);
  facts.test_images = read_hex(lines[4]);
  facts.classes = static_cast<int>(read_hex(lines[5]));
  facts.class_names = lines[6];
  for (std::size_t i = 7; i + 2 < lines.size(); i += 3) {
    facts.moments.push_back({std::bit_cast<double>(read_hex(lines[i])),
                             std::bit_cast<double>(read_hex(lines[i + 1])),
                             std::bit_cast<double>(read_hex(lines[i + 2]))});
  }
  return facts;
}

CollectiveError refuse_parts(std::string what, std::size_t rank, const PartFacts& facts) {
  return {ErrorKind::request,
          {std::move(what), fmt::format("rank {}, subset {}", rank, printable(facts.subset)),
           "--data-sharding host   # with one directory per host, shared by its ranks"}};
}

// Some of the names that `of` has and `other` has not: "c0, c1 and 7 more"; both in order.
std::string render_lacking(const std::vector<std::string_view>& of,
                           const std::vector<std::string_view>& other) {
  constexpr std::size_t most_shown = 8;
  std::vector<std::string> names;
  for (const std::string_view name : of)
    if (!std::binary_search(other.begin(), other.end(), name)) names.push_back(printable(name, 40));
  return join_first(names, most_shown);
}

// Collective. Each rank has numbered the class directories that it sees: label 0 must be the same class
// everywhere.
void require_equal_classes(const Dataset& data, const std::vector<PartFacts>& all, Communicator& ranks) {
  const auto named = [](const PartFacts& facts) { return !facts.class_names.empty(); };
  const auto one = std::find_if(all.begin(), all.end(), named);
  const auto other = std::find_if(one, all.end(), [&](const PartFacts& facts) {
    return named(facts) && facts.class_names != one->class_names;
  });
  if (other == all.end()) return;
  const std::vector<std::string> names = ranks.gather_all(join_names(data.class_directories));
  const std::vector<std::string> directories = ranks.gather_all(data.class_directories.path);
  const auto first = static_cast<std::size_t>(one - all.begin());
  const auto rank = static_cast<std::size_t>(other - all.begin());
  const std::string missing = render_lacking(split(names[first], '/'), split(names[rank], '/'));
  const std::string added = render_lacking(split(names[rank], '/'), split(names[first], '/'));
  std::string what = fmt::format("rank {} and rank {} give one label to different classes:", first, rank);
  if (!missing.empty()) what += fmt::format(" only rank {} has {}", first, missing);
  if (!added.empty()) what += fmt::format("{} only rank {} has {}", missing.empty() ? "" : ";", rank, added);
  throw CollectiveError(
      ErrorKind::request,
      {std::move(what),
       fmt::format("rank {}: {}; rank {}: {}", first, printable(directories[first]), rank,
                   printable(directories[rank])),
       fmt::format(
           "ls {}   # all subsets need the same class directories, or train.txt and val.txt with the labels",
           quote_shell(directories[rank]))});
}

}  // namespace

std::string expand_placeholders(std::string path, const std::string& host, int rank) {
  const std::pair<std::string, std::string> words[] = {{"{host}", host}, {"{rank}", std::to_string(rank)}};
  for (const auto& [word, value] : words) {
    for (std::size_t at = path.find(word); at != std::string::npos; at = path.find(word, at + value.size()))
      path.replace(at, word.size(), value);
  }
  return path;
}

void join_subsets(Dataset& data, const std::string& subset, Communicator& ranks) {
  std::vector<PartFacts> all;
  for (const std::string& text : ranks.gather_all(render_facts(data, subset)))
    all.push_back(parse_facts(text));
  require_equal_classes(data, all, ranks);
  Subsets split;
  std::vector<const PartFacts*> firsts;  // the first rank of each subset
  std::uint64_t hash = hash_start;
  std::vector<Moments> moments(all.front().moments.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const PartFacts& facts = all[rank];
    if (facts.shape != all.front().shape || facts.moments.size() != moments.size()) {
      throw refuse_parts(
          fmt::format("its images are {}, but those of rank 0 are {}", facts.shape, all.front().shape), rank,
          facts);
    }
    const auto same = std::find_if(split.subsets.begin(), split.subsets.end(),
                                   [&](const Subset& known) { return known.name == facts.subset; });
    const auto at = static_cast<std::size_t>(same - split.subsets.begin());
    if (same == split.subsets.end()) {
      split.subsets.push_back({facts.train_images, facts.test_images, 0, facts.subset});
      firsts.push_back(&facts);
      hash = hash_bytes(std::as_bytes(std::span(facts.hash)), hash);
      for (std::size_t c = 0; c < moments.size(); ++c) {
        moments[c].count += facts.moments[c].count;
        moments[c].sum += facts.moments[c].sum;
        moments[c].squares += facts.moments[c].squares;
      }
    } else if (firsts[at]->hash != facts.hash) {
      throw refuse_parts("its images differ from those of the first rank with this subset", rank, facts);
    }
    if (rank == static_cast<std::size_t>(ranks.rank())) {
      split.subset = at;
      split.rank_in_subset = split.subsets[at].ranks;
    }
    split.subsets[at].ranks += 1;
    data.classes = std::max(data.classes, facts.classes);
  }
  data.subsets = std::move(split);
  data.subsets_hash = hash;
  if (!moments.empty()) {
    data.moments = std::move(moments);
    set_moments(data.transform, data.moments);
  }
}

}  // namespace ddlrun::runtime
