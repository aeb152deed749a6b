// SPDX-License-Identifier: MIT
#include "runtime/caffe/prototxt_protobuf.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace ddlrun::runtime {
namespace {

namespace pb = google::protobuf;

constexpr int deepest_prototxt = 50;  // Caffe's own messages are 6 deep
constexpr const char* unread_type = "Unread";

// What protobuf quotes in a message.
std::vector<std::string> read_quoted(const std::string& message) {
  const std::vector<std::string_view> parts = split(message, '"');
  std::vector<std::string> quoted;
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) quoted.emplace_back(parts[i]);
  return quoted;
}

// Protobuf reports some errors at the word after the invalid one: the invalid word, or nothing.
std::string find_wrong_word(const std::string& message) {
  const std::vector<std::string> quoted = read_quoted(message);
  const auto says = [&](const char* part) { return message.find(part) != std::string::npos; };
  if (says("has no field named") && quoted.size() > 1) return quoted[1];
  if (says("is specified multiple times") && !quoted.empty()) return quoted[0];
  if (says("Unknown enumeration value of") && !quoted.empty()) return quoted[0];
  if (says("Invalid value for boolean field") && quoted.size() > 1) return quoted[1];
  return "";
}

std::vector<std::string> field_names(const std::string& type) {
  std::vector<std::string> names;
  const pb::Descriptor* found = caffe_files::NetParameter::descriptor()->file()->FindMessageTypeByName(type);
  for (int i = 0; found != nullptr && i < found->field_count(); ++i) names.push_back(found->field(i)->name());
  return names;
}

// Of a field that takes a word, such as "pool" or "eltwise_param"'s "operation"; empty for other fields.
std::vector<std::string> field_values(const std::string& name) {
  std::vector<std::string> values;
  const pb::FileDescriptor* file = caffe_files::NetParameter::descriptor()->file();
  for (int i = 0; i < file->message_type_count() && values.empty(); ++i) {
    const pb::FieldDescriptor* field = file->message_type(i)->FindFieldByName(name);
    const pb::EnumDescriptor* words = field == nullptr ? nullptr : field->enum_type();
    for (int j = 0; words != nullptr && j < words->value_count(); ++j)
      values.push_back(words->value(j)->name());
  }
  return values;
}

// Takes what protobuf finds wrong. Unknown fields are its warnings, so that all are found at once.
class PrototxtErrors : public pb::io::ErrorCollector {
 public:
  PrototxtErrors(std::string_view text, std::string file, CaffeReport& report)
      : text_(text), file_(std::move(file)), report_(report) {}

  void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
    const Spot spot = find_spot(line, column, find_wrong_word(message));
    const std::vector<std::string> quoted = read_quoted(message);
    if (message.find("Unknown enumeration value of") != std::string::npos && quoted.size() > 1)
      return refuse_value(spot, quoted[0], quoted[1]);
    report_.refuse(where(spot), "invalid prototxt: " + printable(message),
                   fmt::format("sed -n {}p {}   # and fix that line", spot.line + 1, quote_shell(file_)));
  }
  void AddWarning(int line, pb::io::ColumnNumber column, const std::string& message) override {
    if (report_.full()) return;
    const std::vector<std::string> quoted = read_quoted(message);
    if (quoted.size() < 2 || message.find("has no field named") == std::string::npos) return;
    const std::string type = quoted[0].substr(quoted[0].rfind('.') + 1);
    if (type == unread_type) return;
    const Spot spot = find_spot(line, column, quoted[1]);
    const std::vector<std::string> known = field_names(type);
    const auto near = closest_match(quoted[1], known);
    report_.refuse(
        where(spot),
        fmt::format("unknown field '{}' in a {}{}", printable(quoted[1], 60), type,
                    near ? fmt::format("; did you mean {}?", *near) : ""),
        near ? *near + ": ..."
             : fmt::format("sed -n {}p {}   # and remove that field", spot.line + 1, quote_shell(file_)));
  }

 private:
  struct Spot {  // from 0
    int line;
    int column;
  };
  void refuse_value(const Spot& spot, const std::string& value, const std::string& field) {
    const std::vector<std::string> known = field_values(field);
    const auto near = closest_match(value, known);
    report_.refuse(where(spot),
                   fmt::format("unknown value '{}' of {}: must be one of {}{}", printable(value, 60), field,
                               join(known, ", "), near ? fmt::format("; did you mean {}?", *near) : ""),
                   fmt::format("{}: {}", field,
                               near            ? *near
                               : known.empty() ? "..."
                                               : known.front()));
  }
  std::string where(const Spot& spot) const {
    return fmt::format("{}:{}:{}", file_, spot.line + 1, spot.column + 1);
  }

  // The last `word` before a location, if there is one.
  Spot find_spot(int line, int column, const std::string& word) const {
    std::size_t begin = 0;
    for (int i = 0; i < line && begin != std::string_view::npos; ++i) {
      begin = text_.find('\n', begin);
      if (begin != std::string_view::npos) ++begin;
    }
    if (word.empty() || begin == std::string_view::npos) return {line, column};
    const std::size_t end = std::min(text_.size(), begin + static_cast<std::size_t>(std::max(0, column)));
    const std::size_t found = text_.substr(0, end).rfind(word);
    if (found == std::string_view::npos) return {line, column};
    const std::string_view before = text_.substr(0, found);
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {static_cast<int>(std::count(before.begin(), before.end(), '\n')),
            static_cast<int>(found - start)};
  }

  std::string_view text_;
  std::string file_;
  CaffeReport& report_;
};

// Parses as much as possible and ignores the rest.
template <typename Parameter>
Parameter parse_leniently(std::string_view text) {
  CaffeReport unused;
  PrototxtErrors errors(text, "", unused);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(deepest_prototxt);
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  Parameter parameter;
  static_cast<void>(parser.Parse(&input, &parameter));
  return parameter;
}

}  // namespace

PrototxtLocation::PrototxtLocation(std::string file, const Tree* tree, const pb::Descriptor* type)
    : file_(std::move(file)), tree_(tree), type_(type) {}

std::string PrototxtLocation::text() const {
  return line_ == 0 ? file_ : fmt::format("{}:{}:{}", file_, line_, column_);
}

PrototxtLocation PrototxtLocation::at(const std::string& field, int index) const {
  const pb::FieldDescriptor* found = type_ == nullptr ? nullptr : type_->FindFieldByName(field);
  if (found == nullptr || tree_ == nullptr) return *this;
  const int which = found->is_repeated() ? index : -1;
  const pb::TextFormat::ParseLocation location = tree_->GetLocation(found, which);
  if (location.line < 0) return *this;
  const bool nested = found->message_type() != nullptr;
  PrototxtLocation inner(file_, nested ? tree_->GetTreeForNested(found, which) : nullptr,
                         found->message_type());
  inner.line_ = location.line + 1;
  inner.column_ = location.column + 1;
  return inner;
}

template <typename Parameter>
Prototxt<Parameter>::Prototxt(std::string_view text, const std::string& file, CaffeReport& report)
    : location(printable(file), &tree, Parameter::descriptor()) {
  PrototxtErrors errors(text, printable(file), report);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(&tree);
  parser.AllowUnknownField(true);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(deepest_prototxt);
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&input, &parameter)) {
    if (report.errors.empty()) errors.AddError(0, 0, "it cannot be read");
    report.check();
  }
}

template struct Prototxt<caffe_files::SolverParameter>;
template struct Prototxt<caffe_files::NetParameter>;

PrototxtGuess guess_prototxt(std::string_view text) {
  const auto net = parse_leniently<caffe_files::NetParameter>(text);
  const auto solver = parse_leniently<caffe_files::SolverParameter>(text);
  return {static_cast<std::size_t>(net.layer_size()) + static_cast<std::size_t>(net.layers_size()),
          solver.has_base_lr()};
}

double widen(float value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  double wide = value;
  if (error == std::errc()) std::from_chars(text, end, wide);
  return wide;
}

}  // namespace ddlrun::runtime
