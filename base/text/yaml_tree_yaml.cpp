// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

namespace ddlrun {

namespace {

constexpr std::size_t max_bytes = 1u << 20;
constexpr std::size_t max_depth = 32;
constexpr std::size_t max_values = 20'000;

// The document's name, and the caller's hint for its mistakes.
struct YamlSource {
  const std::string& file;
  const std::string& hint;

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string what) const {
    throw Error(ErrorKind::request,
                {std::move(what), fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1), hint});
  }
};

// Builds the tree from the parser's events, so that nothing is ever expanded.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const YamlSource& source) : source_(source) {}
  YamlValue take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { OnScalar(mark, "?", anchor, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    source_.refuse(mark, "an alias (*name); this file format has none");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check(mark, tag, anchor);
    if (expects_key()) return open_field(mark, text);
    YamlValue value;
    value.kind = YamlValue::Kind::scalar;
    value.text = text;
    put(mark, std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlValue::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlValue::Kind::mapping);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    YamlValue value;
    bool has_key = false;
  };

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) source_.refuse(mark, "an anchor (&name); this file format has none");
    if (!tag.empty() && tag != "?" && tag != "!") source_.refuse(mark, "a tag " + printable(tag, 40));
    if (++count_ > max_values) source_.refuse(mark, fmt::format("more than {} values", max_values));
  }
  bool expects_key() const {
    return !levels_.empty() && levels_.back().value.kind == YamlValue::Kind::mapping &&
           !levels_.back().has_key;
  }
  void open_field(const YAML::Mark& mark, const std::string& key) {
    Level& level = levels_.back();
    if (level.value.find(key) != nullptr) source_.refuse(mark, "the key '" + printable(key, 40) + "' twice");
    level.value.fields.push_back({key, {}});
    level.has_key = true;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlValue::Kind kind) {
    check(mark, tag, anchor);
    if (expects_key()) source_.refuse(mark, "a key that is not a plain word");
    if (levels_.size() >= max_depth) source_.refuse(mark, fmt::format("nested deeper than {}", max_depth));
    Level level;
    level.value.kind = kind;
    set_place(level.value, mark);
    levels_.push_back(std::move(level));
  }
  void close() {
    YamlValue value = std::move(levels_.back().value);
    levels_.pop_back();
    attach(std::move(value));
  }
  void put(const YAML::Mark& mark, YamlValue value) {
    set_place(value, mark);
    attach(std::move(value));
  }
  void attach(YamlValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (level.value.kind == YamlValue::Kind::sequence) {
      level.value.items.push_back(std::move(value));
    } else {
      level.value.fields.back().value = std::move(value);
      level.has_key = false;
    }
  }
  static void set_place(YamlValue& value, const YAML::Mark& mark) {
    value.line = mark.line + 1;
    value.column = mark.column + 1;
  }

  const YamlSource& source_;
  std::vector<Level> levels_;
  std::size_t count_ = 0;
  YamlValue root_;
};

}  // namespace

const YamlValue* YamlValue::find(std::string_view key) const {
  for (const auto& [name, value] : fields) {
    if (name == key) return &value;
  }
  return nullptr;
}

YamlValue parse_yaml(std::string_view text, const std::string& file_name, const std::string& hint) {
  if (text.size() > max_bytes) {
    throw Error(ErrorKind::request,
                {fmt::format("{} bytes, at most {}", text.size(), max_bytes), file_name, hint});
  }
  std::istringstream stream{std::string(text)};
  const YamlSource source{file_name, hint};
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    source.refuse(error.mark, "not YAML: " + printable(error.msg, 200));
  }
  return builder.take_root();
}

std::string place_in(const std::string& file_name, const YamlValue& value) {
  return fmt::format("{}:{}:{}", file_name, value.line, value.column);
}

}  // namespace ddlrun
