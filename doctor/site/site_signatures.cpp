// SPDX-License-Identifier: MIT
#include "doctor/site/site_signatures.hpp"

#include "base/os/configuration_path.hpp"
#include "base/text/error.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"

#include <mutex>
#include <utility>

namespace ddlrun::diagnose {

namespace {

struct SignatureText {
  std::string file, text;

  bool operator==(const SignatureText&) const = default;
};

// What the files hold now, and the set that came of it. Of the same texts the same set is returned, because
// the index of a set is kept with it, and a list of jobs needs it for each of them.
struct KnownSet {
  std::vector<SignatureText> texts;
  std::vector<Message> refused;
  std::shared_ptr<const SignatureSet> set;
};

void read_texts(System& system, KnownSet& found) {
  for (const std::string& file : list_signature_files(system)) {
    try {
      check_configuration_file(system, file);
      found.texts.push_back({file, system.files.read(file, max_signature_bytes)});
    } catch (const Error& error) {
      found.refused.push_back(error.message());
    }
  }
}

void warn(System& system, Message message) {
  message.what = "signatures: " + message.what;
  system.err(render_message("ddlrun", "warning", message));
}

// The nearest comes last and so replaces the others.
std::shared_ptr<const SignatureSet> merge_texts(System& system, const std::vector<SignatureText>& texts) {
  if (texts.empty()) return builtin_signatures();
  SignatureSet all = *builtin_signatures();
  for (auto one = texts.rbegin(); one != texts.rend(); ++one) {
    try {
      std::vector<Message> warnings;
      SignatureSet own = parse_signatures(one->text, one->file, &warnings, WrongSignature::left_out);
      for (Message& message : warnings) warn(system, std::move(message));
      all = merge_signatures(std::move(all), std::move(own));  // not reached where the file cannot be read
    } catch (const Error& error) {
      warn(system, error.message());
    }
  }
  return std::make_shared<const SignatureSet>(std::move(all));
}

bool are_equal(const std::vector<Message>& some, const std::vector<Message>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const Message& one, const Message& other) { return one.what == other.what; });
}

}  // namespace

std::vector<std::string> list_signature_files(System& system) {
  try {
    return list_configuration_files(system, "signatures.yaml");
  } catch (const Error&) {
    return {};  // a damaged DDLRUN_SITE_DIR; the commands of jobs refuse it
  }
}

std::shared_ptr<const SignatureSet> read_known_signatures(System& system) {
  static std::mutex mutex;
  static KnownSet last;
  KnownSet found;
  read_texts(system, found);
  const std::lock_guard lock(mutex);
  if (last.set && last.texts == found.texts && are_equal(last.refused, found.refused)) return last.set;
  for (const Message& message : found.refused) warn(system, message);
  found.set = merge_texts(system, found.texts);
  last = std::move(found);
  return last.set;
}

}  // namespace ddlrun::diagnose
