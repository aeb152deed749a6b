// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/checkpoint_directory.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::string_view name_start = "ckpt-";
constexpr std::string_view name_end = ".safetensors";
constexpr std::string_view unfinished_end = ".tmp";
constexpr const char* latest_name = "latest";
constexpr const char* best_name = "best";
constexpr const char* lock_name = "lock";
constexpr std::size_t block_bytes = std::size_t{8} << 20;

std::string path_in(const std::string& directory, std::string_view name) {
  return join_path(directory, std::string(name));
}

// What `latest` or `best` holds, if that is a checkpoint's name and nothing else.
std::optional<std::string> read_named(const CheckpointDisk& disk, const std::string& directory,
                                      const char* file) {
  const std::string path = path_in(directory, file);
  const auto size = disk.size(path);
  if (!size || *size > 100) return std::nullopt;
  std::string text(*size, '\0');
  try {
    disk.read(path, 0, std::as_writable_bytes(std::span(text)));
  } catch (const Error&) {  // the checkpoints themselves may be readable
    return std::nullopt;
  }
  const std::string name(trim(text));
  return parse_checkpoint_name(name) ? std::optional(name) : std::nullopt;
}

std::vector<std::size_t> list_steps(const CheckpointDisk& disk, const std::string& directory) {
  std::vector<std::size_t> steps;
  for (const std::string& name : disk.list(directory)) {
    if (const auto step = parse_checkpoint_name(name)) steps.push_back(*step);
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

// From `latest` back in time; what is newer than `latest` was never agreed on, so it comes last.
std::vector<std::size_t> order_candidates(std::vector<std::size_t> descending,
                                          std::optional<std::size_t> latest) {
  if (latest) {
    std::stable_partition(descending.begin(), descending.end(),
                          [&](std::size_t step) { return step <= *latest; });
  }
  return descending;
}

// Parses "HOST PID"; empty for any other text.
Error refuse_second_run(const std::string& directory, const std::string& holder) {
  const std::vector<std::string_view> words = split(trim(holder), ' ');
  const bool valid = words.size() == 2 && !words[0].empty() && parse_unsigned(words[1]);
  const std::string lock = quote_shell(path_in(directory, lock_name));
  if (!valid) {
    return {ErrorKind::request,
            {"another run saves to this directory", printable(directory),
             "--checkpoint OTHER_DIR   # or stop that run"}};
  }
  const std::string host = printable(words[0]);
  return {
      ErrorKind::request,
      {fmt::format("another run saves to this directory: process {} on {}", words[1], host),
       printable(directory),
       fmt::format("--checkpoint OTHER_DIR   # or stop that run: kill -TERM {} on {}; if {} is lost: rm {}",
                   words[1], host, host, lock)}};
}

}  // namespace

std::string checkpoint_name(std::size_t step) { return fmt::format("{}{:06}{}", name_start, step, name_end); }

std::optional<std::size_t> parse_checkpoint_name(const std::string& name) {
  const std::size_t frame = name_start.size() + name_end.size();
  if (name.size() <= frame || !name.starts_with(name_start) || !name.ends_with(name_end)) return std::nullopt;
  const auto step = parse_unsigned(std::string_view(name).substr(name_start.size(), name.size() - frame));
  return step && checkpoint_name(*step) == name ? std::optional<std::size_t>(*step) : std::nullopt;
}

SafetensorsHeader verify_checkpoint(const CheckpointDisk& disk, const std::string& path) {
  const auto size = disk.size(path);
  if (!size) {
    throw Error(ErrorKind::request, {"the file does not exist", printable(path),
                                     "ls -l " + quote_shell(path) + "   # or --resume DIR"});
  }
  std::string text(std::min<std::uint64_t>(*size, length_bytes), '\0');
  disk.read(path, 0, std::as_writable_bytes(std::span(text)));
  const std::uint64_t length = parse_header_length(text, *size, path);
  text.resize(length_bytes + length);
  disk.read(path, 0, std::as_writable_bytes(std::span(text)));
  check_header_checksum(text, path);
  SafetensorsHeader header = parse_safetensors_header(text, *size, path);
  for (const TensorEntry& place : header.tensors) {
    Crc32 sum;
    std::vector<std::byte> block(std::min<std::uint64_t>(block_bytes, place.end - place.begin));
    for (std::uint64_t at = place.begin; at < place.end;) {
      const auto part = std::span(block).first(std::min<std::uint64_t>(block.size(), place.end - at));
      disk.read(path, header.data_start + at, part);
      sum.add(part);
      at += part.size();
    }
    check_tensor_checksum(header, place, sum, path);
  }
  return header;
}

void read_tensor(const CheckpointDisk& disk, const std::string& path, const SafetensorsHeader& header,
                 const TensorEntry& place, std::span<float> values) {
  const auto bytes = std::as_writable_bytes(values);
  if (place.type != "F32" || place.end - place.begin != bytes.size()) {
    throw Error(ErrorKind::request,
                {fmt::format("the tensor '{}' has {} bytes of type {}, but {} of F32 are needed",
                             printable(place.name), place.end - place.begin, place.type, bytes.size()),
                 printable(path), "a checkpoint of the same net"});
  }
  disk.read(path, header.data_start + place.begin, bytes);
  Crc32 sum;
  sum.add(bytes);
  check_tensor_checksum(header, place, sum, path);
}

std::optional<FoundCheckpoint> find_checkpoint(const CheckpointDisk& disk, const std::string& directory) {
  const std::vector<std::size_t> steps = list_steps(disk, directory);
  const auto latest = read_named(disk, directory, latest_name);
  if (steps.empty() && !latest) return std::nullopt;
  FoundCheckpoint found;
  if (!latest) {
    const std::string path = path_in(directory, latest_name);
    found.skipped.push_back(fmt::format(
        "{}: {}", path, disk.size(path) ? "it does not name a checkpoint" : "the file does not exist"));
  } else if (std::find(steps.begin(), steps.end(), *parse_checkpoint_name(*latest)) == steps.end()) {
    found.skipped.push_back(fmt::format("{}: the file does not exist", path_in(directory, *latest)));
  }
  for (const std::size_t step :
       order_candidates(steps, latest ? parse_checkpoint_name(*latest) : std::nullopt)) {
    found.path = path_in(directory, checkpoint_name(step));
    try {
      found.header = verify_checkpoint(disk, found.path);
      return found;
    } catch (const Error& error) {
      found.skipped.push_back(fmt::format("{}: {}", found.path, error.message().what));
      found.damaged.push_back(step);
    }
  }
  throw Error(ErrorKind::request,
              {fmt::format("all {} checkpoint(s) are damaged: {}", steps.size(), join(found.skipped, "; ")),
               printable(directory), "--checkpoint NEW_DIR   # without --resume: start from the beginning"});
}

std::optional<std::string> follow_name(const CheckpointDisk& disk, const std::string& path) {
  const std::string_view file = base_name(path);
  for (const char* name : {latest_name, best_name}) {
    if (file != name || !disk.size(path)) continue;
    const std::string directory = directory_of(path);
    const auto named = read_named(disk, directory, name);
    if (named && disk.size(path_in(directory, *named))) return path_in(directory, *named);
  }
  return std::nullopt;
}

std::optional<Message> lock_directory(CheckpointDisk& disk, const std::string& directory) {
  disk.create_directory(directory);
  const std::string path = path_in(directory, lock_name);
  const LockResult answer = disk.lock(path);
  if (answer.state == LockResult::State::others) throw refuse_second_run(directory, answer.words);
  if (answer.state == LockResult::State::ours) return std::nullopt;
  return Message{
      fmt::format("this directory cannot be locked ({}): a second run that saves here goes undetected",
                  printable(answer.words)),
      printable(path), "use a separate directory for each run: --checkpoint DIR"};
}

CheckpointDirectory::CheckpointDirectory(CheckpointDisk& disk, std::string path, std::size_t keep,
                                         const std::vector<std::size_t>& damaged)
    : disk_(disk), path_(std::move(path)), keep_(keep), damaged_(damaged.begin(), damaged.end()) {}

void CheckpointDirectory::prepare() {
  disk_.create_directory(path_);
  for (const std::string& name : disk_.list(path_)) {
    if (!name.ends_with(unfinished_end)) continue;
    const std::string whole = name.substr(0, name.size() - unfinished_end.size());
    if (whole == latest_name || whole == best_name || parse_checkpoint_name(whole))
      disk_.remove(path_in(path_, name));
  }
  if (const auto best = read_named(disk_, path_, best_name)) best_ = parse_checkpoint_name(*best);
  const std::string trial = path_in(path_, std::string(latest_name) + std::string(unfinished_end));
  disk_.create(trial);
  disk_.remove(trial);
}

void CheckpointDirectory::write_temporary(const std::string& name,
                                          std::span<const std::span<const std::byte>> parts,
                                          const std::function<void(const std::string&)>& check) {
  const std::string target = path_in(path_, name);
  const std::string temporary = target + std::string(unfinished_end);
  disk_.remove(temporary);
  try {
    {
      const std::unique_ptr<CheckpointFile> file = disk_.create(temporary);
      for (const auto& part : parts) file->append(part);
      file->sync();
    }
    check(temporary);
    disk_.rename(temporary, target);
  } catch (const Error&) {
    discard(temporary);
    throw;
  }
  disk_.sync_directory(path_);
}

// On a full disk an incomplete file would take space from the next one.
void CheckpointDirectory::discard(const std::string& temporary) {
  try {
    disk_.remove(temporary);
  } catch (const Error&) {  // the caller reports the first error
  }
}

std::string CheckpointDirectory::move_aside() {
  std::vector<std::size_t> steps = list_steps(disk_, path_);
  if (steps.empty()) return "";
  damaged_.clear();
  std::string directory;
  for (int number = 1; directory.empty() || !disk_.list(directory).empty(); ++number)
    directory = path_in(path_, fmt::format("earlier-{}", number));
  disk_.create_directory(directory);
  // Newest last: if this is interrupted, the other run's newest checkpoint is still in place.
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    disk_.rename(path_in(path_, checkpoint_name(*step)), path_in(directory, checkpoint_name(*step)));
  for (const char* name : {best_name, latest_name}) {
    if (disk_.size(path_in(path_, name))) disk_.rename(path_in(path_, name), path_in(directory, name));
  }
  best_.reset();
  disk_.sync_directory(directory);
  disk_.sync_directory(path_);
  return directory;
}

std::optional<std::size_t> newest_step(const CheckpointDisk& disk, const std::string& directory) {
  const std::vector<std::size_t> steps = list_steps(disk, directory);
  return steps.empty() ? std::nullopt : std::optional(steps.front());
}

bool is_checkpoint_path(const CheckpointDisk& disk, const std::string& path) {
  if (path.ends_with(name_end) || follow_name(disk, path)) return true;
  const bool is_file = disk.size(path).has_value();
  return !is_file && newest_step(disk, path).has_value();
}

CheckpointDirectory::Written CheckpointDirectory::write(std::size_t step, const Metadata& metadata,
                                                        std::span<const Tensor> tensors) {
  const std::string header = render_safetensors_header(metadata, tensors);
  std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(header))};
  for (const Tensor& tensor : tensors) {
    const auto bytes = std::as_bytes(tensor.values);
    // Neighbours in one vector go into one write.
    if (parts.size() > 1 && parts.back().data() + parts.back().size() == bytes.data()) {
      parts.back() = {parts.back().data(), parts.back().size() + bytes.size()};
    } else {
      parts.push_back(bytes);
    }
  }
  Written written{checkpoint_name(step), 0};
  for (const auto& part : parts) written.bytes += part.size();
  // A full or broken disk may fail only here.
  write_temporary(written.name, parts,
                  [&](const std::string& temporary) { verify_checkpoint(disk_, temporary); });
  damaged_.erase(step);
  return written;
}

void CheckpointDirectory::write_name(const std::string& file, const std::string& name) {
  const std::string text = name + "\n";
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  write_temporary(file, std::span(&part, 1), [](const std::string&) {});
}

void CheckpointDirectory::make_best(const std::string& name) {
  write_name(best_name, name);
  best_ = parse_checkpoint_name(name);
}

void CheckpointDirectory::make_latest(const std::string& name) {
  write_name(latest_name, name);
  const std::size_t newest = parse_checkpoint_name(name).value_or(0);
  std::size_t kept = 0;
  for (const std::size_t step : list_steps(disk_, path_)) {
    if (step > newest) continue;
    if (kept == keep_) {
      if (step != best_) disk_.remove(path_in(path_, checkpoint_name(step)));
    } else if (damaged_.count(step) == 0) {
      ++kept;
    }
  }
}

}  // namespace ddlrun::runtime
