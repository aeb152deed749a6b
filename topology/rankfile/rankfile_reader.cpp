// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_reader.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "topology/rankfile/rankfile_entry.hpp"

#include <algorithm>
#include <set>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

// Where the first comment or quote of `text` begins, at `from` or behind it.
std::size_t find_special(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#' || c == '"') return i;
    if (c == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*')) return i;
  }
  return std::string_view::npos;
}

// The value behind "NAME =" in a comment that begins with '#', or nothing.
std::optional<std::string_view> header_value(std::string_view comment, std::string_view name) {
  std::string_view text = trim(comment.substr(1));
  if (!text.starts_with(name)) return std::nullopt;
  text = trim(text.substr(name.size()));
  if (!text.starts_with('=')) return std::nullopt;
  return trim(text.substr(1));
}

}  // namespace

std::optional<SourceLine> LineReader::next() {
  if (rest_.empty()) return std::nullopt;
  SourceLine line;
  line.number = ++number_;
  const auto end = rest_.find('\n');
  line.has_newline = end != std::string_view::npos;
  line.raw = rest_.substr(0, end);
  rest_.remove_prefix(line.has_newline ? end + 1 : rest_.size());
  cut_into_pieces(line);
  return line;
}

void LineReader::cut_into_pieces(SourceLine& line) {
  const std::string_view raw = line.raw;
  std::size_t begin = 0;  // of the piece that is being read
  std::size_t at = 0;
  while (true) {
    if (open_comment_ != 0) {
      line.has_block_comment = true;
      const auto close = raw.find("*/", at);
      if (close == std::string_view::npos) return;
      open_comment_ = 0;
      begin = at = close + 2;
    }
    const auto special = find_special(raw, at);
    if (special == std::string_view::npos) break;
    if (raw[special] == '"') {  // a quoted text hides comments
      const auto close = raw.find('"', special + 1);
      if (close == std::string_view::npos) break;
      at = close + 1;
      continue;
    }
    if (special > begin) line.pieces.push_back(raw.substr(begin, special - begin));
    if (raw[special] == '#' || raw[special + 1] == '/') {
      line.comment = raw.substr(special);
      return;
    }
    open_comment_ = line.number;
    at = special + 2;
  }
  std::string_view last = raw.substr(begin);
  line.ends_in_cr = last.ends_with('\r');
  if (line.ends_in_cr) last.remove_suffix(1);
  if (!last.empty()) line.pieces.push_back(last);
}

void FileHeader::add_comment(std::string_view comment, int line) {
  if (!comment.starts_with('#')) return;
  try {
    if (const auto value = header_value(comment, "dims"); value && dims_line == 0) {
      dims_line = line;
      dims = parse_dims(*value);
    } else if (const auto names = header_value(comment, "host"); names && hosts_line == 0) {
      hosts_line = line;
      hosts = expand_host_list(*names);
    } else if (const auto source = header_value(comment, "topology");
               source && source->starts_with("assumed")) {
      assumed_topology = true;
      topology_line = line;
    }
  } catch (const Error&) {
    // A comment that only looks like a header is a comment.
  }
}

FileHeader read_header(std::string_view text) {
  FileHeader header;
  LineReader reader(text);
  while (const auto line = reader.next()) header.add_comment(line->comment, line->number);
  return header;
}

std::vector<RankLine> parse_rank_lines(std::string_view text) {
  std::vector<RankLine> lines;
  LineReader reader(text);
  while (const auto line = reader.next()) {
    for (const std::string_view piece : line->pieces) {
      for (std::string_view rest = piece; !rest.empty();) {
        RankEntry entry = read_entry(rest);
        rest = entry.next_entry;
        if (entry.complete())
          lines.push_back({*entry.rank, std::string(entry.host), std::move(entry.slots), line->number});
      }
    }
  }
  return lines;
}

topology::RankOrder find_rank_order(std::vector<RankLine> lines) {
  std::ranges::sort(lines, {}, &RankLine::rank);
  std::set<std::string> seen;
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    seen.insert(lines[i].host);
    if (i == 0 || lines[i].host != lines[i - 1].host) ++blocks;
  }
  const bool is_packed = blocks == seen.size() && blocks > 1 && lines.size() > blocks;
  return is_packed ? topology::RankOrder::packed : topology::RankOrder::ddl;
}

}  // namespace ddlrun::rankfile
