// SPDX-License-Identifier: MIT
#include "launch/run/launch_output.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/monitor/rank_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ddlrun::launch {

std::string render_output_flag(const OutputSpec& spec) {
  switch (spec.mode) {
    case OutputSpec::Mode::prefix:
      return "--rank-output prefix";
    case OutputSpec::Mode::files:
      return "--rank-output files";
    case OutputSpec::Mode::screen:
      break;
  }
  return "--tee";
}

LaunchOutput::LaunchOutput(System& system, const OutputSpec& spec, const std::string& directory,
                           const std::string& token,
                           std::function<void(std::uint32_t rank, std::string_view line)> on_err,
                           std::size_t ranks)
    : system_(system),
      keeps_files_(spec.writes_files()),
      reports_loss_(spec.is_framed()),
      show_(spec.mode == OutputSpec::Mode::prefix ? Show::prefixed
            : spec.shows()                        ? Show::plain
                                                  : Show::nothing),
      directory_(directory),
      on_err_(std::move(on_err)),
      ranks_(ranks),
      reader_(token),
      shown_([this](std::uint32_t rank, RankStream stream, std::string_view line) {
        show_line(rank, stream, line);
      }),
      err_lines_([this](std::uint32_t rank, RankStream, std::string_view line) { on_err_(rank, line); }) {
  if (keeps_files_) system_.files.make_directories(rank_file_directory(directory_));
}

std::string LaunchOutput::take(std::string_view line) {
  OutputReader::Taken taken = reader_.take(line);
  if (!taken.piece) return std::move(taken.rest);
  const OutputFrame& piece = *taken.piece;
  if (piece.rank >= ranks_) return std::move(taken.rest);
  count_.take(piece);
  if (sink_) sink_(piece.rank, piece.bytes);
  if (keeps_files_) {
    File& file = files_[{piece.rank, piece.stream}];
    if (file.path.empty()) file.path = rank_file(directory_, piece.rank, piece.stream);
    file.waiting += piece.bytes;
  }
  if (show_ != Show::nothing) shown_.take(piece);
  if (on_err_ && piece.stream == RankStream::err) err_lines_.take(piece);
  return std::move(taken.rest);
}

void LaunchOutput::show_line(std::uint32_t rank, RankStream stream, std::string_view line) {
  std::string& screen = stream == RankStream::out ? out_ : err_;
  if (show_ == Show::prefixed) {
    screen += '[';
    screen += fmt::format_int(rank).c_str();
    screen += "] ";
  }
  screen += line;
  if (show_ == Show::prefixed && line.back() != '\n') screen += '\n';
}

void LaunchOutput::flush() {
  flush_screen();
  write_files();
}

void LaunchOutput::flush_screen() {
  write_out();
  if (!err_.empty()) system_.pass(err_);
  out_.clear();
  err_.clear();
}

// A failed write to stdout (a full disk) must not end the job: it is reported once.
void LaunchOutput::write_out() {
  if (out_.empty()) return;
  try {
    system_.out(out_);
  } catch (const Error& error) {
    if (!out_failed_) system_.err(render_message("ddlrun", "warning", error.message()));
    out_failed_ = true;
  }
}

void LaunchOutput::write_files() {
  if (!keeps_files_) return;
  try {
    for (auto& [key, file] : files_) {
      if (file.waiting.empty() && file.made) continue;
      system_.files.append(file.path, file.waiting);  // also where a rank says nothing: that is a fact too
      file.made = true;
      file.waiting.clear();
    }
  } catch (const Error& error) {
    give_up_files(error.message());
  }
}

// A full disk must not end a job that can go on without its log.
void LaunchOutput::give_up_files(const Message& why) {
  keeps_files_ = false;
  system_.err(render_message(
      "ddlrun", "warning",
      {"the ranks' output is not kept any more: " + why.what, rank_file_directory(directory_), why.hint}));
  if (show_ == Show::nothing) {
    show_ = Show::prefixed;
    for (auto& [key, file] : files_) show_waiting(key.first, key.second, file.waiting);
    flush_screen();
  }
  files_.clear();
}

// Of the file that is full, also what its disk still took: rather twice than never.
void LaunchOutput::show_waiting(std::uint32_t rank, RankStream stream, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    show_line(rank, stream, line);
    bytes.remove_prefix(line.size());
  }
}

void LaunchOutput::tick() {
  if (show_ == Show::plain) shown_.flush_old();
  flush();
}

void LaunchOutput::finish() {
  const std::string rest = reader_.finish();
  if (!rest.empty()) err_ += rest;
  shown_.flush();
  err_lines_.flush();
  flush();
  try {
    for (const auto& [key, file] : files_) system_.files.sync(file.path);
  } catch (const Error& error) {
    give_up_files(error.message());
  }
  if (!reports_loss_) return;
  if (const std::size_t open = count_.without_end(); open > 0)
    system_.err(fmt::format(
        "ddlrun: of {} stream{} of the ranks the end did not come: its last lines may be missing\n", open,
        open == 1 ? "" : "s"));
  const std::uint64_t bytes = count_.missing() * output_frame_bytes;
  if (bytes > 0)
    system_.err(
        render_message("ddlrun", "warning",
                       {fmt::format("up to {} of the ranks' output never arrived", render_bytes(bytes)),
                        directory_, "the launcher dropped it; let the program write its own file"}));
}

}  // namespace ddlrun::launch
