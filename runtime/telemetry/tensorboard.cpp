// SPDX-License-Identifier: MIT
#include "runtime/telemetry/tensorboard.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <filesystem>

namespace ddlrun::runtime {
namespace {

constexpr std::uint32_t castagnoli = 0x82f63b78U;  // reflected
constexpr std::uint32_t mask_delta = 0xa282ead8U;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1U ^ ((value & 1U) != 0 ? castagnoli : 0U);
    table[i] = value;
  }
  return table;
}

template <typename Number>
void append_little(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
}

std::string render_masked_sum(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  std::string out;
  append_little(out, (sum >> 15U | sum << 17U) + mask_delta);
  return out;
}

// Protocol buffers: a number of the field, how it is written, the value.
void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) out += static_cast<char>((value & 0x7fU) | 0x80U);
  out += static_cast<char>(value);
}
std::string varint_field(unsigned number, std::uint64_t value) {
  std::string out;
  append_varint(out, number << 3U);
  append_varint(out, value);
  return out;
}
std::string bytes_field(unsigned number, std::string_view bytes) {
  std::string out;
  append_varint(out, number << 3U | 2U);
  append_varint(out, bytes.size());
  return out.append(bytes);
}
std::string double_field(unsigned number, double value) {
  std::string out;
  append_varint(out, number << 3U | 1U);
  append_little(out, std::bit_cast<std::uint64_t>(value));
  return out;
}
std::string float_field(unsigned number, float value) {
  std::string out;
  append_varint(out, number << 3U | 5U);
  append_little(out, std::bit_cast<std::uint32_t>(value));
  return out;
}

// Of Event, Summary, Summary.Value, SummaryMetadata, TensorProto and SessionLog.
constexpr unsigned event_time = 1, event_step = 2, event_version = 3, event_summary = 5, event_session = 7;
constexpr unsigned summary_value = 1, value_tag = 1, value_simple = 2, value_tensor = 8, value_metadata = 9;
constexpr unsigned metadata_plugin = 1, metadata_class = 4, plugin_name = 1, class_of_tensors = 2;
constexpr unsigned tensor_type = 1, tensor_shape = 2, tensor_string = 8, type_string = 7;
constexpr unsigned session_status = 1, status_start = 1;

double wall_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// "events.out.tfevents.SECONDS.HOST.PID.ddl-train" in a directory that is there.
std::string make_event_path(const std::string& directory) {
  if (directory.empty()) return "";
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem) {
    throw Error(ErrorKind::request, {"the TensorBoard directory cannot be created: " + problem.message(),
                                     "--tensorboard " + printable(directory), "--tensorboard /tmp/runs"});
  }
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("{}/events.out.tfevents.{:010.0f}.{}.{}.ddl-train", directory, wall_now(), host.data(),
                     getpid());
}

std::string render_facts_table(const RunFacts& facts) {
  std::string text = "| | |\n|---|---|\n";
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("| {} | {} |\n", name, value);
  };
  row("net", fmt::format("{}, {} parameters", printable(facts.net), facts.parameters));
  row("data",
      fmt::format("{}, {} + {} images", printable(facts.data), facts.train_images, facts.test_images));
  row("ranks x threads", fmt::format("{} x {}", facts.ranks, facts.threads));
  row("global batch", std::to_string(facts.global_batch));
  row("epochs", fmt::format("{}, {} steps", facts.epochs, facts.total_steps));
  row("learning rate",
      fmt::format("{:.6g}, {}, {} warm-up steps", facts.lr_peak, facts.lr_decay, facts.warmup_steps));
  row("momentum, weight decay", fmt::format("{:.6g}, {:.6g}", facts.momentum, facts.weight_decay));
  row("seed", std::to_string(facts.seed));
  row("device", fmt::format("{}, {}", facts.device, facts.engine));
  row("ddl-train", facts.version);
  return text;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = make_crc_table();
  std::uint32_t value = ~0U;
  for (const char byte : bytes)
    value = value >> 8U ^ table[(value ^ static_cast<unsigned char>(byte)) & 0xffU];
  return ~value;
}

std::string frame_record(std::string_view bytes) {
  std::string out;
  append_little(out, static_cast<std::uint64_t>(bytes.size()));
  out += render_masked_sum(out);
  return out.append(bytes) + render_masked_sum(bytes);
}

std::string encode_version_event(double wall_time) {
  return double_field(event_time, wall_time) + bytes_field(event_version, "brain.Event:2");
}

std::string encode_scalars_event(double wall_time, std::int64_t step,
                                 std::span<const std::pair<std::string_view, double>> values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    summary += bytes_field(
        summary_value, bytes_field(value_tag, tag) + float_field(value_simple, static_cast<float>(value)));
  }
  return double_field(event_time, wall_time) + varint_field(event_step, static_cast<std::uint64_t>(step)) +
         bytes_field(event_summary, summary);
}

std::string encode_text_event(double wall_time, std::string_view tag, std::string_view markdown) {
  const std::string tensor = varint_field(tensor_type, type_string) + bytes_field(tensor_shape, "") +
                             bytes_field(tensor_string, markdown);
  const std::string metadata = bytes_field(metadata_plugin, bytes_field(plugin_name, "text")) +
                               varint_field(metadata_class, class_of_tensors);
  const std::string value =
      bytes_field(value_tag, tag) + bytes_field(value_tensor, tensor) + bytes_field(value_metadata, metadata);
  return double_field(event_time, wall_time) + bytes_field(event_summary, bytes_field(summary_value, value));
}

std::string encode_restart_event(double wall_time, std::int64_t step) {
  return double_field(event_time, wall_time) + varint_field(event_step, static_cast<std::uint64_t>(step)) +
         bytes_field(event_session, varint_field(session_status, status_start));
}

TensorboardFile::TensorboardFile(const std::string& directory, const RunFacts& facts)
    : path_(make_event_path(directory)),
      global_batch_(static_cast<double>(facts.global_batch)),
      facts_text_(render_facts_table(facts)),
      file_(path_, FilePurpose{"--tensorboard", "TensorBoard's file"}) {}

void TensorboardFile::write(const std::string& event) { file_.write_bytes(frame_record(event)); }

void TensorboardFile::on_start(std::size_t, std::size_t first_step) {
  if (path_.empty()) return;
  last_step_ = first_step;
  write(encode_version_event(wall_now()));
  if (first_step > 0) write(encode_restart_event(wall_now(), static_cast<std::int64_t>(first_step) + 1));
  write(encode_text_event(wall_now(), "configuration", facts_text_));
  file_.flush();
}

void TensorboardFile::on_step(const StepRecord& record) {
  if (path_.empty()) return;
  last_step_ = record.step;
  const std::pair<std::string_view, double> values[] = {
      {"train/loss", record.loss},
      {"train/learning_rate", record.lr},
      {"speed/images_per_second", global_batch_ / std::max(record.step_seconds, 1e-9)},
      {"speed/step_ms", 1e3 * record.step_seconds},
      {"speed/compute_ms", 1e3 * record.compute_seconds},
      {"speed/exposed_communication_ms", 1e3 * record.comm_seconds},
      {"speed/input_ms", 1e3 * record.input_seconds}};
  write(encode_scalars_event(wall_now(), static_cast<std::int64_t>(record.step), values));
}

void TensorboardFile::on_test(const TestRecord& record) {
  if (path_.empty()) return;
  const std::pair<std::string_view, double> values[] = {{"test/accuracy", record.test_accuracy},
                                                        {"test/loss", record.test_loss}};
  write(encode_scalars_event(wall_now(), static_cast<std::int64_t>(record.step), values));
}

void TensorboardFile::on_epoch(const EpochRecord& record) {
  if (path_.empty()) return;
  const std::pair<std::string_view, double> values[] = {{"train/accuracy", record.train_accuracy},
                                                        {"test/accuracy", record.test_accuracy},
                                                        {"test/loss", record.test_loss}};
  write(encode_scalars_event(wall_now(), static_cast<std::int64_t>(last_step_), values));
  file_.flush();
}

}  // namespace ddlrun::runtime
