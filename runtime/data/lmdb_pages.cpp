// SPDX-License-Identifier: MIT
#include "runtime/data/lmdb_pages.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ddlrun::runtime {
namespace {

// Offsets in a page, and in the two pages with which a file begins (MDB_page, MDB_meta and MDB_node of
// mdb.c).
constexpr std::size_t page_head = 16;
constexpr std::size_t flags_at = 10;
constexpr std::size_t lower_at = 12;  // of overflow pages: how many follow
constexpr std::size_t upper_at = 14;
constexpr std::size_t node_head = 8;
constexpr std::size_t magic_at = 16;
constexpr std::size_t page_size_at = 40;
constexpr std::size_t main_flags_at = 92;
constexpr std::size_t depth_at = 94;
constexpr std::size_t entries_at = 120;
constexpr std::size_t root_at = 128;
constexpr std::size_t last_page_at = 136;
constexpr std::size_t transaction_at = 144;
constexpr std::size_t meta_size = 152;
constexpr std::uint32_t lmdb_magic = 0xBEEFC0DE;
constexpr std::uint32_t data_version = 1;
constexpr std::uint64_t no_page = UINT64_MAX;
constexpr unsigned most_levels = 32;

enum PageFlags : std::uint16_t { branch_page = 1, leaf_page = 2, overflow_page = 4, meta_page = 8 };
enum NodeFlags : std::uint16_t { value_elsewhere = 1 };

class PageWalk {
 public:
  PageWalk(std::span<const std::uint8_t> file, std::string_view name) : file_(file), name_(name) {}

  std::vector<LmdbRecord> run() {
    const std::size_t meta = find_meta();
    last_page_ = get<std::uint64_t>(meta + last_page_at);
    const std::uint64_t pages = file_.size() / page_size_;
    if (last_page_ >= pages) {
      throw refuse(last_page_ > UINT32_MAX ? "the LMDB is damaged: invalid size"
                                           : fmt::format("the LMDB is cut short: {} bytes of {}",
                                                         file_.size(), (last_page_ + 1) * page_size_));
    }
    if (get<std::uint16_t>(meta + main_flags_at) != 0)
      throw refuse("the LMDB has several values for one key; an LMDB for Caffe never has");
    const std::uint64_t root = get<std::uint64_t>(meta + root_at);
    if (root == no_page) return {};
    const auto depth = get<std::uint16_t>(meta + depth_at);
    if (depth == 0 || depth > most_levels) throw damaged(root, "levels");
    visit(root, depth);
    const auto promised = get<std::uint64_t>(meta + entries_at);
    if (promised != records_.size()) {
      throw refuse(
          fmt::format("the LMDB is damaged: it declares {} records, but has {}", promised, records_.size()));
    }
    return std::move(records_);
  }

 private:
  template <class Number>
  Number get(std::size_t at) const {
    Number value{};
    std::memcpy(&value, file_.data() + at, sizeof value);
    return value;
  }

  Error refuse(std::string what) const {
    return {ErrorKind::request, {std::move(what), printable(name_), "mdb_stat " + quote_shell(name_)}};
  }
  Error damaged(std::uint64_t page, const char* what) const {
    return refuse(fmt::format("the LMDB is damaged: page {} has invalid {}", page, what));
  }

  bool is_meta(std::size_t at) const {
    return at + meta_size <= file_.size() && (get<std::uint16_t>(at + flags_at) & meta_page) != 0 &&
           get<std::uint32_t>(at + magic_at) == lmdb_magic &&
           get<std::uint32_t>(at + magic_at + 4) == data_version;
  }

  // Of the two the one that was written last.
  std::size_t find_meta() {
    if (!is_meta(0)) throw refuse("this is not an LMDB of version 0.9 and this machine's byte order");
    page_size_ = get<std::uint32_t>(page_size_at);
    if (page_size_ < 256 || page_size_ > 65'536 || (page_size_ & (page_size_ - 1)) != 0)
      throw damaged(0, "page size");
    if (!is_meta(page_size_)) throw refuse(fmt::format("the LMDB is cut short: {} bytes", file_.size()));
    const bool second = get<std::uint64_t>(transaction_at) < get<std::uint64_t>(page_size_ + transaction_at);
    return second ? page_size_ : 0;
  }

  // Offset of a page, after checking its number and type.
  std::size_t find_page(std::uint64_t number, PageFlags kind) const {
    if (number < 2 || number > last_page_) throw damaged(number, "place");
    const std::size_t at = static_cast<std::size_t>(number) * page_size_;
    if (get<std::uint64_t>(at) != number) throw damaged(number, "number");
    constexpr unsigned kinds = branch_page | leaf_page | overflow_page | meta_page;
    if ((get<std::uint16_t>(at + flags_at) & kinds) != static_cast<unsigned>(kind))
      throw damaged(number, "kind");
    return at;
  }

  void visit(std::uint64_t number, unsigned levels) {
    if (++visited_ > last_page_) throw damaged(number, "parents");  // a circle
    const bool leaf = levels == 1;
    const std::size_t page = find_page(number, leaf ? leaf_page : branch_page);
    const std::size_t lower = get<std::uint16_t>(page + lower_at);
    const std::size_t upper = get<std::uint16_t>(page + upper_at);
    if (lower < page_head || lower > upper || upper > page_size_) throw damaged(number, "bounds");
    const std::size_t nodes = (lower - page_head) / 2;
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t offset = get<std::uint16_t>(page + page_head + 2 * i);
      if (offset < upper || offset + node_head > page_size_) throw damaged(number, "nodes");
      const std::size_t node = page + offset;
      const std::uint64_t size = get<std::uint16_t>(node) | std::uint64_t{get<std::uint16_t>(node + 2)}
                                                                << 16U;
      const std::uint64_t flags = get<std::uint16_t>(node + 4);
      const std::size_t key_size = get<std::uint16_t>(node + 6);
      const std::size_t room = page_size_ - offset - node_head;  // for key and value
      if (key_size > room) throw damaged(number, "keys");
      if (leaf) {
        add_record(number, node, key_size, size, flags, room - key_size);
      } else {
        visit(size | flags << 32U, levels - 1);
      }
    }
  }

  void add_record(std::uint64_t number, std::size_t node, std::size_t key_size, std::uint64_t size,
                  std::uint64_t flags, std::size_t room) {
    std::size_t value = node + node_head + key_size;
    if (flags == value_elsewhere) {
      if (room < sizeof(std::uint64_t)) throw damaged(number, "nodes");
      const auto first = get<std::uint64_t>(value);
      const std::size_t page = find_page(first, overflow_page);
      const std::uint64_t pages = get<std::uint32_t>(page + lower_at);
      if (pages == 0 || pages > last_page_ - first + 1 || size > pages * page_size_ - page_head)
        throw damaged(first, "size");
      value = page + page_head;
    } else if (flags != 0 || size > room) {
      throw damaged(number, "values");
    }
    records_.push_back({file_.data() + node + node_head, file_.data() + value,
                        static_cast<std::uint32_t>(key_size), static_cast<std::uint32_t>(size)});
  }

  std::span<const std::uint8_t> file_;
  std::string_view name_;
  std::size_t page_size_ = 0;
  std::uint64_t last_page_ = 0;
  std::uint64_t visited_ = 0;
  std::vector<LmdbRecord> records_;
};

}  // namespace

std::vector<LmdbRecord> parse_lmdb(std::span<const std::uint8_t> file, std::string_view name) {
  return PageWalk(file, name).run();
}

}  // namespace ddlrun::runtime
