// SPDX-License-Identifier: MIT
// fuzz_seeds DIRECTORY: seeds in formats that have no file among the tests' data, written to
// DIRECTORY/TARGET/.
#include "ddl/transport/tcp/tcp_handshake.hpp"
#include "doctor/gather/agent.hpp"
#include "doctor/report/baseline.hpp"
#include "launch/rank/output_frame.hpp"
#include "launch/rank/placement_line.hpp"
#include "launch/rank/status_line.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/data/datum.hpp"
#include "runtime/data/idx.hpp"
#include "runtime/data/lmdb_source.hpp"
#include "runtime/telemetry/timeline_part.hpp"
#include "tests/support/real_host.hpp"
#include "tests/unit/runtime/data/encoded_images.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace ddlrun;
namespace fs = std::filesystem;

namespace {

struct SeedWriter {
  fs::path root;

  void add(const std::string& target, const std::string& name, std::string_view bytes) const {
    fs::create_directories(root / target);
    std::ofstream(root / target / name, std::ios::binary) << bytes;
  }
  void add(const std::string& target, const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    add(target, name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  void move_in(const std::string& target, const std::string& name, const fs::path& file) const {
    std::ifstream bytes(file, std::ios::binary);
    add(target, name, std::string{std::istreambuf_iterator<char>(bytes), {}});
    fs::remove(file);
  }
};

void write_doctor(const SeedWriter& seeds) {
  tests::RealHost machine;
  doctor::ProbeRequest request;
  request.names = {"h1", "h2", "localhost"};
  request.executable = "python3";
  request.ports = {29400};
  const auto response = doctor::gather_facts(machine.interfaces, request, doctor::all_gatherers());
  seeds.add("agent_answer", "request", doctor::render_probe_request_json(request));
  seeds.add("agent_answer", "response", doctor::render_probe_response_json(response));
  const doctor::HostReport report{"h1", {}, response.facts, {}};
  seeds.add("agent_answer", "baseline",
            doctor::render_baseline_json(doctor::make_baseline({&report, 1}, "2026-11-21 07:10:03 UTC")));
  // All facts alike, and each subject's of one host only.
  std::map<std::string, std::string> by_subject;
  std::string alike(1, '\0');
  for (const auto& [name, fact] : response.facts.all()) {
    if (!fact.known) continue;
    alike += fmt::format("a{}={}", name, fact.text) + '\0';
    by_subject[name.substr(0, name.find('.'))] += fmt::format("h{}={}", name, fact.text) + '\0';
  }
  seeds.add("fix_script", "alike", alike);
  for (const auto& [subject, records] : by_subject) {
    seeds.add("fix_script", subject, std::string(1, '\0') + records);
    seeds.add("fix_script", subject + "-differs", alike + records);
  }
}

void write_launch(const SeedWriter& seeds) {
  launch::SshLaunchSpec spec;
  spec.rank_map.kinds = {{{{0, 1}, 0, 0, "0002:01:00.0", "mlx5_0"}, {{2, 3}, -1, -1, "", ""}}};
  spec.rank_map.hosts = {{"h1", 0, {0, 1}}, {"h2", 0, {2, 3}}};
  spec.rank_map.groups = {{"worker", 0, 3, {"./a"}, {"--task={group_rank}"}, {{"A", "{rank}", ""}}, false},
                          {"ps", 3, 1, {}, {}, {}, true}};
  spec.rank_map.workdir = "/work";
  spec.program.program = {"train", "--epochs", "1"};
  spec.program.status_token = "t0k3n";
  spec.exported = {"LR"};
  spec.addresses = {{"h2", "10.0.0.2"}};
  launch::SshHostSpec host{spec.rank_map, spec.program, {{"LR", "0.1"}}, 2000};
  seeds.add("rank_map", "map", launch::render_rank_map(spec.rank_map));
  seeds.add("ssh_spec", "launch", launch::render_ssh_launch_spec(spec));
  seeds.add("ssh_spec", "host", launch::render_ssh_host_spec(host));
  launch::RankReport report{3, "h2", launch::RankStatus::stalled, {30, 'D', 77, "train", "nfs_wait"}, 0, 0,
                            0, false};
  std::string lines = "epoch 1\n" + launch::render_status_line("t0k3n", report);
  report.sign = launch::RankStatus::ended;
  lines += launch::render_status_line("t0k3n", report) +
           launch::render_placement_line("t0k3n", {3, 1, "h2", {4, 5}}) + "epoch 2\n" +
           launch::OutputFramer("t0k3n", 3).mark(launch::RankStream::err, "a warning\nhalf a line");
  seeds.add("rank_output", "lines", lines);
}

void write_runtime(const SeedWriter& seeds) {
  using namespace runtime;
  for (const int channels : {1, 3}) {
    const Image image = make_image(channels, 6, 5);
    seeds.add("png", fmt::format("{}", channels), write_png(image));
    for (const bool progressive : {false, true})
      seeds.add("jpeg", fmt::format("{}-{}", channels, progressive), write_jpeg(image, progressive));
  }
  seeds.add("jpeg", "cmyk", write_jpeg(make_image(4, 6, 5)));
  for (const char* text : {"P5 2 2 255\nabcd", "P6\n# c\n1 1\n255\nabc", "P2 2 1 15 3 4", "P3 1 1 255 1 2 3",
                           "P1 2 2 0 1 1 0", "P4 8 1\nx", "P5 1 1 65535\nab"})
    seeds.add("pnm", std::string(text, 2), std::string_view(text));

  const std::uint32_t labels[] = {3}, images[] = {2, 2, 2};
  const std::vector<std::uint8_t> pixels = {1, 2, 3, 4, 5, 6, 7, 8};
  seeds.add("idx", "labels", render_idx(labels, std::span(pixels).first(3)));
  seeds.add("idx", "images", render_idx(images, pixels));
  std::string record(1 + 3073, '\1');
  seeds.add("cifar", "ten", record);
  seeds.add("cifar", "hundred", record + '\1');

  const Shape shape{1, 2, 2};
  const auto datum = render_datum(shape, std::span(pixels).first(4), 7);
  seeds.add("lmdb", "datum", datum);
  for (const int count : {2, 300}) {
    const fs::path directory = seeds.root / "lmdb.new";
    LmdbWriter writer(directory.string(), std::size_t{1} << 24U);
    for (int i = 0; i < count; ++i) writer.put(fmt::format("{:08}", i), datum);
    writer.finish();
    seeds.move_in("lmdb", fmt::format("{}", count), directory / "data.mdb");
    fs::remove_all(directory);
  }

  const std::vector<float> values(6, 0.5F);
  const Tensor tensors[] = {{"conv1.weight", {2, 1, 2}, std::span(values).first(4)},
                            {"conv1.bias", {2}, std::span(values).last(2)}};
  const std::string header = render_safetensors_header({{"step", "812"}, {"net", "a \"b\""}}, tensors);
  seeds.add("safetensors", "header", header.substr(length_bytes));

  const fs::path part = seeds.root / "part.new";
  {
    PartWriter writer(part.string(), {1, 0, 2, "h1", 64, 1, 1}, 4096);
    writer.add_clock({1, 2, 3});
    writer.add({10, 5, 64, writer.add_name("conv1"), PartLane::compute});
  }
  seeds.move_in("timeline_part", "part", part);
}

void write_link(const SeedWriter& seeds) {
  const ddl::Nonce hello{}, mine{};
  const auto text = [](const auto& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const auto proof_bytes = ddl::render_proof("the token", hello, mine, {1, 2, 3});
  const auto answer = ddl::render_answer("another", hello, *ddl::parse_proof(proof_bytes),
                                         ddl::HandshakeStatus::wrong_size, 4);
  seeds.add("link_handshake", "meeting",
            text(ddl::render_hello(hello)) + text(ddl::render_proof("another", hello, mine, {1, 2, 3})) +
                text(answer));
  // receive 4 bytes, a message of 4, an unexpected one, a goodbye
  seeds.add("link", "steps",
            std::string_view("\x1c\x04\x18\x04"
                             "abcd"
                             "\x00\x03xyz\x05\x00\x10\x00",
                             17));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: fuzz_seeds DIRECTORY\n");
    return 2;
  }
  const SeedWriter seeds{argv[1]};
  write_doctor(seeds);
  write_launch(seeds);
  write_runtime(seeds);
  write_link(seeds);
  return 0;
}
