// SPDX-License-Identifier: MIT
// The texts of a signature, with the hosts, ranks and values of the log in their places.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// What may stand for the `template_words`.
struct TemplateValues {
  Place place;
  std::string value;
  std::string advice;
  std::string tagged = "mpirun --tag-output";  // the words that start it with each line's rank before it
  std::string path;
  std::string library;
  std::string script;
  std::string port;
  std::optional<int> status;
  std::optional<int> signal;
  bool is_prose =
      false;  // what is not known becomes "a host", "a rank"; in a command HOST, N, NAME, PATH, SCRIPT
};
constexpr std::array<std::string_view, 11> template_words{
    "host", "port", "rank", "value", "path", "library", "script", "try", "tagged", "status", "signal"};

std::string fill_in(std::string_view text, const TemplateValues& with);

// The first {name} of a title or cause that fill_in() does not replace, without braces; or "".
std::string unknown_word(std::string_view text);

// A finding with the texts of `signature`; without evidence. Remedies are pasted into shells: values of the
// log are quoted in them.
Finding finding_of(const Signature& signature, const TemplateValues& with);

}  // namespace ddlrun::diagnose
