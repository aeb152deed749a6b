// SPDX-License-Identifier: MIT
#include "doctor/diagnose/signatures_yaml.hpp"

#include "base/text/text.hpp"
#include "base/text/yaml_tree.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/literal_scanner.hpp"
#include "doctor/diagnose/signature_texts.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace ddlrun::diagnose {

namespace {

using Kind = YamlValue::Kind;

// Reads one file; each refusal names its place.
class Reader {
 public:
  Reader(const std::string& file, std::vector<Message>* warnings, WrongSignature wrong)
      : file_(file),
        warnings_(warnings),
        leaves_out_(warnings != nullptr && wrong == WrongSignature::left_out) {}

  SignatureSet read(const YamlValue& root) const {
    need_mapping(root, {"signatures", "endings", "schema"});
    if (const YamlValue* schema = root.find("schema");
        schema != nullptr && text(*schema) != signatures_schema)
      refuse(*schema, fmt::format("schema '{}'", printable(schema->text, 40)),
             std::string(signatures_schema));
    SignatureSet set;
    if (const YamlValue* list = root.find("signatures")) {
      for (const YamlValue& item : items(*list)) add_or_leave_out(set, item);
    }
    if (const YamlValue* list = root.find("endings")) {
      for (const YamlValue& item : items(*list)) set.endings.push_back(read_ending(item));
    }
    const bool is_left_out = leaves_out_ && !warnings_->empty();
    if (set.signatures.empty() && set.endings.empty() && !is_left_out)
      refuse(root, "neither 'signatures:' nor 'endings:'");
    return set;
  }

 private:
  [[noreturn]] void refuse(const YamlValue& at, std::string what, std::string hint = "") const {
    if (hint.empty()) hint = "ddlrun diagnose --explain A1 --json   # a built-in signature as an example";
    throw Error(ErrorKind::request, {std::move(what), place_in(file_, at), std::move(hint)});
  }

  void need_mapping(const YamlValue& value, const std::vector<std::string>& known) const {
    if (value.kind != Kind::mapping) refuse(value, "a mapping (key: value) is expected here");
    for (const auto& [key, field] : value.fields) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const auto near = closest_match(key, known);
      refuse(field, fmt::format("unknown key '{}'", printable(key, 40)),
             near ? *near + ":" : join(known, ", "));
    }
  }
  const std::vector<YamlValue>& items(const YamlValue& value) const {
    if (value.kind != Kind::sequence) refuse(value, "a list is expected here", "- ...");
    return value.items;
  }
  const std::string& text(const YamlValue& value) const {
    if (value.kind != Kind::scalar) refuse(value, "one text is expected here");
    return value.text;
  }
  // A text for people: it goes to terminals as it is.
  const std::string& shown_text(const YamlValue& value) const {
    for (const std::string_view line : split(text(value), '\n')) {
      if (printable(line, SIZE_MAX) != line)
        refuse(value, "a control character, or bytes that are not UTF-8");
    }
    return value.text;
  }
  // A text or a list of texts.
  std::vector<const YamlValue*> one_or_many(const YamlValue& value) const {
    std::vector<const YamlValue*> all;
    if (value.kind == Kind::scalar) return {&value};
    for (const YamlValue& item : items(value)) all.push_back(&item);
    return all;
  }
  std::string optional_text(const YamlValue& in, std::string_view key) const {
    const YamlValue* value = in.find(key);
    return value == nullptr ? std::string() : shown_text(*value);
  }
  // A title or cause, in which values of the log are filled in.
  std::string template_text(const YamlValue& in, std::string_view key) const {
    std::string found = required_text(in, key);
    if (const std::string name = unknown_word(found); !name.empty())
      refuse(*in.find(key), fmt::format("nothing stands for {{{}}} in a text", printable(name, 40)),
             "{host}, {rank}, {value}, {status}, {signal}, {path}, {library}, {script}, {port}, {try}");
    return found;
  }
  std::string required_text(const YamlValue& in, std::string_view key) const {
    const YamlValue* value = in.find(key);
    if (value == nullptr) refuse(in, fmt::format("'{}:' is missing", key));
    std::string found = shown_text(*value);
    if (trim(found).empty()) refuse(*value, fmt::format("'{}:' is empty", key));
    return found;
  }

  LinePattern read_line(const YamlValue& value, std::size_t least) const {
    auto pattern = parse_line_pattern(text(value));
    if (const std::string syntax = regex_syntax_in(text(value)); warnings_ != nullptr && !syntax.empty())
      warnings_->push_back({fmt::format("a pattern is no regular expression: {} stands for itself", syntax),
                            place_in(file_, value), plain_pattern_hint(text(value))});
    if (!pattern) {
      refuse(value, "a pattern holds an unknown {name}, or two of them touch",
             "{*}, {host}, {rank}, {value}, {signal}, {status}, {number}, {end}");
    }
    if (key_of(*pattern).size() < least) {
      refuse(value,
             fmt::format("the first line of a pattern needs a fixed text of at least {} bytes", least));
    }
    for (const std::string& piece : pattern->pieces) {
      if (piece.find('\n') != std::string::npos)
        refuse(value, "a pattern never crosses a line", "- [first, next]");
    }
    return *pattern;
  }
  MessagePattern read_message(const YamlValue& value, std::size_t least) const {
    MessagePattern message;
    for (const YamlValue* line : one_or_many(value))
      message.push_back(read_line(*line, message.empty() ? least : 0));
    if (message.empty()) refuse(value, "an empty pattern");
    return message;
  }
  // Patterns of class L are held against one line only, and need no key for the scanner.
  std::vector<MessagePattern> read_patterns(const YamlValue& in, std::size_t least) const {
    std::vector<MessagePattern> patterns;
    const YamlValue* match = in.find("match");
    if (match == nullptr) return patterns;
    if (match->kind == Kind::scalar) return {read_message(*match, least)};
    for (const YamlValue& item : items(*match)) patterns.push_back(read_message(item, least));
    return patterns;
  }
  std::vector<HelpTopic> read_topics(const YamlValue& in) const {
    std::vector<HelpTopic> topics;
    const YamlValue* list = in.find("topics");
    if (list == nullptr) return topics;
    for (const YamlValue* item : one_or_many(*list)) {
      const std::string& both = shown_text(*item);
      const std::size_t slash = both.find(" / ");
      if (slash == std::string::npos)
        refuse(*item, "a topic is FILE / TOPIC", "help-regex.txt / regex:invalid-name");
      topics.push_back({both.substr(0, slash), both.substr(slash + 3)});
    }
    return topics;
  }
  FactRule read_fact(const YamlValue& value) const {
    need_mapping(value, {"status", "from", "empty", "last_line"});
    FactRule fact;
    if (const YamlValue* status = value.find("status")) {
      for (const YamlValue* item : one_or_many(*status)) fact.statuses.push_back(read_int(*item));
    }
    fact.from = optional_text(value, "from");
    if (const YamlValue* empty = value.find("empty")) fact.log_is_empty = read_bool(*empty);
    fact.last_line_has = optional_text(value, "last_line");
    return fact;
  }
  int read_int(const YamlValue& value) const {
    const std::string& digits = text(value);
    const bool negative = digits.starts_with('-');
    const auto number = parse_unsigned(negative ? std::string_view(digits).substr(1) : digits, 65535);
    if (!number) refuse(value, fmt::format("'{}' is not an exit status", printable(digits, 40)));
    return negative ? -static_cast<int>(*number) : static_cast<int>(*number);
  }
  bool read_bool(const YamlValue& value) const {
    if (text(value) != "true" && text(value) != "false") refuse(value, "true or false is expected here");
    return value.text == "true";
  }
  SignatureClass read_class(const YamlValue& in) const {
    const std::string letter = required_text(in, "class");
    for (const auto kind :
         {SignatureClass::primary, SignatureClass::generic, SignatureClass::likely, SignatureClass::fact,
          SignatureClass::ending, SignatureClass::secondary, SignatureClass::benign}) {
      if (letter.size() == 1 && letter[0] == letter_of(kind)) return kind;
    }
    refuse(*in.find("class"), fmt::format("class '{}'", printable(letter, 20)), "P, G, L, N, E, S or W");
  }

  Signature read_signature(const YamlValue& value) const {
    std::vector<std::string> keys{"id",    "class", "title", "match",     "topics",
                                  "facts", "cause", "try",   "reference", "exit_statuses"};
    for (const auto& [key, flag] : signature_flags) keys.emplace_back(key);
    need_mapping(value, keys);
    Signature signature;
    signature.id = required_text(value, "id");
    signature.kind = read_class(value);
    signature.title = template_text(value, "title");
    signature.cause = template_text(value, "cause");
    signature.reference = optional_text(value, "reference");
    const YamlValue* remedies = value.find("try");
    if (remedies == nullptr) refuse(value, "'try:' is missing: what is to be typed?");
    for (const YamlValue* item : one_or_many(*remedies)) {
      signature.remedies.push_back(shown_text(*item));
      if (const ValueFault fault = find_value_fault(signature.remedies.back()); !fault.what.empty())
        refuse(*item, fault.what, fault.mended);
    }
    const bool likely = signature.kind == SignatureClass::likely;
    signature.patterns = read_patterns(value, likely ? 3 : LiteralScanner::min_length);
    signature.topics = read_topics(value);
    if (const YamlValue* facts = value.find("facts")) {
      for (const YamlValue& item : items(*facts)) signature.facts.push_back(read_fact(item));
    }
    // --json has the statuses beside the facts too, for its other readers.
    if (const YamlValue* statuses = value.find("exit_statuses"); statuses != nullptr) {
      FactRule fact;
      for (const YamlValue& item : items(*statuses)) fact.statuses.push_back(read_int(item));
      if (value.find("facts") == nullptr && !fact.statuses.empty())
        signature.facts.push_back(std::move(fact));
    }
    for (const auto& [key, flag] : signature_flags)
      if (const YamlValue* set = value.find(key)) signature.*flag = read_bool(*set);
    const bool can_be_found =
        !signature.patterns.empty() || !signature.topics.empty() || !signature.facts.empty();
    if (!can_be_found && signature.kind != SignatureClass::fact && !likely)
      refuse(value, "nothing to find it by", "match: ...");
    return signature;
  }
  void add_or_leave_out(SignatureSet& set, const YamlValue& item) const {
    if (!leaves_out_) return add_signature(set, item);
    try {
      add_signature(set, item);
    } catch (const Error& error) {
      Message message = error.message();
      message.what += "; this signature is left out";
      warnings_->push_back(std::move(message));
    }
  }
  void add_signature(SignatureSet& set, const YamlValue& item) const {
    Signature signature = read_signature(item);
    if (find_signature(set, signature.id) != nullptr) {
      refuse(item, fmt::format("the id '{}' twice", printable(signature.id, 40)), "another id");
    }
    set.signatures.push_back(std::move(signature));
  }
  Ending read_ending(const YamlValue& value) const {
    need_mapping(value, {"id", "match", "from", "is", "certain"});
    Ending ending{required_text(value, "id"), optional_text(value, "from"), EndingKind::rank,
                  read_patterns(value, LiteralScanner::min_length)};
    if (const YamlValue* certain = value.find("certain")) ending.is_certain = read_bool(*certain);
    const std::string is = optional_text(value, "is");
    if (is == "status") ending.kind = EndingKind::status;
    if (is == "place") ending.kind = EndingKind::place;
    if (is == "task") ending.kind = EndingKind::task;
    if (!is.empty() && is != "rank" && ending.kind == EndingKind::rank) {
      refuse(*value.find("is"), "`is` must be rank, status, place or task", "is: rank");
    }
    if (ending.patterns.empty()) refuse(value, "nothing to find it by", "match: ...");
    return ending;
  }

  const std::string& file_;
  std::vector<Message>* warnings_;
  bool leaves_out_;
};

}  // namespace

SignatureSet parse_signatures(std::string_view text, const std::string& file_name,
                              std::vector<Message>* warnings, WrongSignature wrong) {
  return Reader(file_name, warnings, wrong)
      .read(parse_yaml(text, file_name,
                       "mend that line; `ddlrun diagnose --list` shows what the built-in file has"));
}

std::shared_ptr<const SignatureSet> builtin_signatures() {
  static const auto set = [] {
    SignatureSet all;
    for (const SignatureFile& file : builtin_signature_files()) {
      SignatureSet one = parse_signatures(file.text, file.name);
      std::move(one.signatures.begin(), one.signatures.end(), std::back_inserter(all.signatures));
      std::move(one.endings.begin(), one.endings.end(), std::back_inserter(all.endings));
    }
    return std::make_shared<const SignatureSet>(std::move(all));
  }();
  return set;
}

}  // namespace ddlrun::diagnose
