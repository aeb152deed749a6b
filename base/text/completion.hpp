// SPDX-License-Identifier: MIT
// Completion of a command line that is being typed: words in, candidates out. The files in completion/ pass
// the words to `PROGRAM __complete` and give the answer to bash, zsh or fish. Pure.
#pragma once

#include "base/text/command_reference.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

struct Candidate {
  std::string word;
  std::string help = {};  // one line; may be ""
};

struct Completion {
  std::string kind =
      "words";          // "files", "directories": the shell adds those; "program": it completes another one
  std::string implied;  // the program whose options stand there, without its name
  std::size_t program = 0;  // "program": its place in the words
  std::string file_prefix;  // "--data=": what stands before the name of the file
  bool is_open = false;     // no blank follows: a list may go on
  std::vector<Candidate> candidates;
};

// The candidates of a source, such as "hosts"; only called for a source that is wanted.
using CandidateSource = std::function<std::vector<Candidate>(std::string_view source)>;

// `words`: what was typed behind the command, the last one is being typed and may be "".
Completion complete_command(const CommandReference& command, std::span<const std::string> words,
                            const CandidateSource& source);

// Those that begin with `typed`, without those that a shell would read as more than a word: names in files of
// others must not become shell text.
std::vector<Candidate> select_candidates(const std::vector<Candidate>& candidates, std::string_view typed);

// The answer for the shell: ":KIND", with " open", the place of the program and an implied one, the prefix,
// then a line "WORD<tab>HELP" for each candidate.
std::string render_completion(const Completion& completion);

}  // namespace ddlrun
