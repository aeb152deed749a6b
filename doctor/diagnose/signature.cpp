// SPDX-License-Identifier: MIT
#include "doctor/diagnose/signature.hpp"

#include "doctor/diagnose/signatures_yaml.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_id(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_letter(x) == lower_letter(y); });
}

}  // namespace

char letter_of(SignatureClass kind) {
  switch (kind) {
    case SignatureClass::primary:
      return 'P';
    case SignatureClass::generic:
      return 'G';
    case SignatureClass::likely:
      return 'L';
    case SignatureClass::fact:
      return 'N';
    case SignatureClass::ending:
      return 'E';
    case SignatureClass::secondary:
      return 'S';
    case SignatureClass::benign:
      return 'W';
  }
  return '?';
}

const Signature* find_signature(const SignatureSet& set, std::string_view id) {
  for (const Signature& signature : set.signatures) {
    if (same_id(signature.id, id)) return &signature;
  }
  return nullptr;
}

SignatureSet merge_signatures(SignatureSet base, SignatureSet added) {
  for (Signature& signature : added.signatures) {
    const auto known = std::find_if(base.signatures.begin(), base.signatures.end(),
                                    [&](const Signature& s) { return same_id(s.id, signature.id); });
    if (known == base.signatures.end())
      base.signatures.push_back(std::move(signature));
    else
      *known = std::move(signature);
  }
  for (Ending& ending : added.endings) base.endings.push_back(std::move(ending));
  return base;
}

SignatureSet without_signature(SignatureSet set, std::string_view id) {
  std::erase_if(set.signatures, [&](const Signature& signature) { return same_id(signature.id, id); });
  return set;
}

}  // namespace ddlrun::diagnose
