// SPDX-License-Identifier: MIT
#include "doctor/diagnose/finding_text.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ddlrun::diagnose {

std::string fill_in(std::string_view text, const TemplateValues& with) {
  const auto known_or = [&](const std::string& value, const char* in_prose, const char* in_command) {
    return !value.empty() ? value : std::string(with.is_prose ? in_prose : in_command);
  };
  const std::string rank = with.place.rank ? std::to_string(*with.place.rank) : with.is_prose ? "?" : "N";
  const bool no_rank = with.is_prose && !with.place.rank, no_value = with.is_prose && with.value.empty();
  const auto number_or_unknown = [&](const std::optional<int>& number) {
    return number ? std::to_string(*number) : with.is_prose ? "that is not known" : "N";
  };
  const bool no_host = with.is_prose && with.place.host.empty();
  const std::pair<std::string_view, std::string> known[] = {
      {"rank {rank}", no_rank ? "a rank" : "rank " + rank},
      {": {value}", no_value ? "" : ": " + known_or(with.value, "", "NAME")},
      // A word that stands for an unknown name would look like that name within quotes.
      {"\"{value}\"", no_value ? "\"...\"" : '"' + known_or(with.value, "", "NAME") + '"'},
      {"\"{host}\"", no_host ? "a host" : '"' + known_or(with.place.host, "", "HOST") + '"'},
      {"{host}", known_or(with.place.host, "a host", "HOST")},
      {"{rank}", rank},
      {"{value}", known_or(with.value, "it", "NAME")},
      {"with status {status}", with.is_prose && !with.status
                                   ? "with an unknown status"
                                   : "with status " + number_or_unknown(with.status)},
      {"{status}", number_or_unknown(with.status)},
      {"{signal}", number_or_unknown(with.signal)},
      {"{path}", known_or(with.path, "it", "PATH")},
      {"{library}", known_or(with.library, "a library", "LIBRARY")},
      // Without one in the log, the port that PyTorch takes by itself.
      {"{port}", !with.port.empty() ? (with.is_prose ? "port " : "") + with.port
                 : with.is_prose    ? "MASTER_PORT"
                                    : "29500"},
      {"{script}", known_or(with.script, "the script", "SCRIPT")},
      {"{try}", known_or(with.advice, "see the lines above", "see the lines above")},
      {"{tagged}", with.tagged}};
  std::string filled;
  while (!text.empty()) {
    const auto name = std::find_if(std::begin(known), std::end(known),
                                   [&](const auto& row) { return text.starts_with(row.first); });
    if (name != std::end(known)) {
      filled += name->second;
      text.remove_prefix(name->first.size());
      continue;
    }
    filled += text.front();
    text.remove_prefix(1);
  }
  return filled;
}

std::string unknown_word(std::string_view text) {
  for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find('}', at);
    if (end == text.npos) return {};
    const std::string_view name = text.substr(at + 1, end - at - 1);
    const bool is_name = !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == name.npos;
    if (is_name && std::ranges::find(template_words, name) == template_words.end()) return std::string(name);
  }
  return {};
}

Finding finding_of(const Signature& signature, const TemplateValues& with) {
  Finding finding;
  finding.id = signature.id;
  finding.kind = signature.kind;
  finding.place = with.place;
  finding.reference = signature.reference;
  finding.count = 1;
  TemplateValues prose = with;
  prose.is_prose = true;
  finding.title = fill_in(signature.title, prose);
  finding.cause = fill_in(signature.cause, prose);
  TemplateValues quoted = with;
  for (std::string* text :
       {&quoted.value, &quoted.path, &quoted.library, &quoted.script, &quoted.place.host}) {
    if (!text->empty()) *text = quote_shell(*text);
  }
  for (const std::string& remedy : signature.remedies) finding.remedies.push_back(fill_in(remedy, quoted));
  return finding;
}

}  // namespace ddlrun::diagnose
