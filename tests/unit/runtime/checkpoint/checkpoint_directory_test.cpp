// SPDX-License-Identifier: MIT
// Stopped, refused or without power at every write, sync and rename: the last or the last but one is read.
#include "runtime/checkpoint/checkpoint_directory.hpp"

#include "tests/support/sanitized.hpp"
#include "tests/unit/runtime/checkpoint/fake_disk.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace ddlrun::runtime {
namespace {

const std::string saved_dir = "dir";

// Every value of the checkpoint of a step is that step.
void save_step(CheckpointDirectory& directory, std::size_t step) {
  const std::vector<float> values(50, static_cast<float>(step));
  const Tensor tensors[] = {{"a", {40}, std::span(values).first(40)},
                            {"b", {10}, std::span(values).last(10)}};
  directory.make_latest(directory.write(step, {{"step", std::to_string(step)}}, tensors).name);
}

// The step of the checkpoint that is found, 0 for none.
std::size_t found_step(const FakeDisk& disk) {
  const auto found = find_checkpoint(disk, saved_dir);
  if (!found) return 0;
  std::vector<float> values(40);
  read_tensor(disk, found->path, found->header, found->header.tensors[0], values);
  const auto step = static_cast<std::size_t>(values[0]);
  CHECK(std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; }));
  CHECK(found->header.metadata.at("step") == std::to_string(step));
  CHECK(found->path == saved_dir + "/" + checkpoint_name(step));
  return step;
}

// Saves steps 10, 20, ... until all are done or the disk stops; returns the last that was saved.
std::size_t save_until_stopped(FakeDisk& disk, std::size_t last) {
  std::size_t saved = 0;
  try {
    CheckpointDirectory directory(disk, saved_dir, 2);
    directory.prepare();
    for (std::size_t step = 10; step <= last; step += 10) {
      save_step(directory, step);
      saved = step;
    }
  } catch (const FakeDisk::Stopped&) {
  }
  return saved;
}

FakeDisk disk_with(std::size_t last) {
  FakeDisk disk;
  REQUIRE(save_until_stopped(disk, last) == last);
  return disk;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/checkpoint/checkpoint_directory");

// namespace

TEST_CASE("checkpoint directory: names") {
  CHECK(checkpoint_name(812) == "ckpt-000812.safetensors");
  CHECK(checkpoint_name(12345678) == "ckpt-12345678.safetensors");
  CHECK(parse_checkpoint_name("ckpt-000812.safetensors") == 812);
  for (const char* name : {"", "ckpt-.safetensors", "ckpt-812.safetensors", "ckpt-000812.safetensors.tmp",
                           "ckpt-00081x.safetensors", "../ckpt-000812.safetensors", "latest",
                           "ckpt-99999999999999999999.safetensors"}) {
    CAPTURE(name);
    CHECK(!parse_checkpoint_name(name));
  }
}

TEST_CASE("checkpoint directory: the last two stay, `latest` names the last") {
  FakeDisk disk = disk_with(50);
  std::vector<std::string> names = disk.list(saved_dir);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{checkpoint_name(40), checkpoint_name(50), "latest"});
  CHECK(disk.content("dir/latest") == checkpoint_name(50) + "\n");
  CHECK(found_step(disk) == 50);
}

TEST_CASE("checkpoint directory: stopped at every call, with and without power") {
  FakeDisk whole;
  whole.plan_fault(0, Fault::none);
  save_until_stopped(whole, 50);
  const std::size_t calls = whole.calls();
  CHECK(calls > 50);
  std::size_t trials = 0;
  ddlrun::testing::Sample sample;
  for (std::size_t call = 1; call <= calls; ++call) {
    for (const Fault fault : {Fault::stop_before, Fault::stop_within, Fault::stop_after}) {
      for (std::uint64_t power = 0; power < 20; ++power) {  // 0: the power stays
        if (!sample.takes_next()) continue;
        CAPTURE(call);
        CAPTURE(power);
        FakeDisk disk;
        disk.plan_fault(call, fault);
        const std::size_t saved = save_until_stopped(disk, 50);
        disk.resume_command();
        Random random(1000 * call + power);
        if (power > 0) disk.lose_power(random);
        const std::size_t found = found_step(disk);
        CHECK((found == saved || found == saved + 10));
        // The next run cleans up and saves again.
        CheckpointDirectory directory(disk, saved_dir, 2);
        directory.prepare();
        for (const std::string& name : disk.list(saved_dir)) CHECK(!name.ends_with(".tmp"));
        save_step(directory, found + 5);
        CHECK(found_step(disk) == found + 5);
        ++trials;
      }
    }
  }
  MESSAGE(trials, " stops at ", calls, " calls");
}

TEST_CASE(
    "checkpoint directory: a disk that refuses any call leaves the last or last but one, and can go on") {
  FakeDisk whole;
  whole.plan_fault(0, Fault::none);
  save_until_stopped(whole, 40);
  for (std::size_t call = 1; call <= whole.calls(); ++call) {
    CAPTURE(call);
    FakeDisk disk;
    disk.plan_fault(call, Fault::refuse);
    std::size_t saved = 0;
    std::size_t refused = 0;
    CheckpointDirectory directory(disk, saved_dir, 2);
    for (std::size_t step = 10; step <= 40; step += 10) {
      try {
        if (step == 10) directory.prepare();
        save_step(directory, step);
        saved = step;
      } catch (const Error&) {
        ++refused;
        const std::size_t found = found_step(disk);
        CHECK((found == saved || found == saved + 10 || found == step));
      }
    }
    CHECK(refused == 1);
    if (saved == 40) CHECK(found_step(disk) == 40);
    save_step(directory, 60);
    CHECK(found_step(disk) == 60);
  }
}

TEST_CASE("checkpoint directory: a damaged checkpoint is passed over, and it is said why") {
  const std::string newest = "dir/" + checkpoint_name(50);
  struct Row {
    const char* part;
    std::function<void(FakeDisk&)> damage;
  };
  const Row rows[] = {
      {"is damaged", [&](FakeDisk& disk) { disk.content(newest).back() ^= 1; }},
      {"is damaged", [&](FakeDisk& disk) { disk.content(newest)[40] ^= 1; }},
      {"the length field declares", [&](FakeDisk& disk) { disk.content(newest)[3] ^= 1; }},
      {"has 0 bytes", [&](FakeDisk& disk) { disk.content(newest).clear(); }},
      {"but 199 follow", [&](FakeDisk& disk) { disk.content(newest).pop_back(); }},
      {"is damaged",
       [&](FakeDisk& disk) { disk.content(newest).replace(disk.content(newest).size() - 60, 40, 40, '\0'); }},
      {"the file does not exist", [&](FakeDisk& disk) { disk.erase(newest); }},
  };
  for (const Row& row : rows) {
    FakeDisk disk = disk_with(50);
    row.damage(disk);
    CHECK(found_step(disk) == 40);
    const auto found = find_checkpoint(disk, saved_dir);
    REQUIRE(found->skipped.size() == 1);
    CHECK_MESSAGE(found->skipped[0].find(row.part) != std::string::npos, found->skipped[0]);
    CHECK(found->skipped[0].starts_with(newest));
  }
}

TEST_CASE("checkpoint directory: a damaged one takes no whole one's place") {
  FakeDisk disk = disk_with(50);
  disk.content("dir/" + checkpoint_name(50)).back() ^= 1;
  const auto found = find_checkpoint(disk, saved_dir);
  CHECK(found->damaged == std::vector<std::size_t>{50});
  // Another process goes on from 40.
  CheckpointDirectory directory(disk, saved_dir, 2, found->damaged);
  directory.prepare();
  save_step(directory, 60);
  CHECK(disk.size("dir/" + checkpoint_name(40)));
  FakeDisk damaged = disk;
  damaged.content("dir/" + checkpoint_name(60)).back() ^= 1;
  CHECK(found_step(damaged) == 40);
  save_step(directory, 70);
  std::vector<std::string> names = disk.list(saved_dir);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{checkpoint_name(60), checkpoint_name(70), "latest"});
}

TEST_CASE("checkpoint directory: `latest` may be damaged, missing or a trap") {
  for (const char* text :
       {"", "ckpt-000050", "../../etc/passwd", "ckpt-000050.safetensors/../x", "ckpt-000777.safetensors\n"}) {
    CAPTURE(text);
    FakeDisk disk = disk_with(50);
    disk.put("dir/latest", text);
    CHECK(found_step(disk) == 50);
    CHECK(find_checkpoint(disk, saved_dir)->skipped.size() == 1);
  }
  FakeDisk disk = disk_with(50);
  disk.put("dir/latest", checkpoint_name(40) + "\n");  // 50 was never agreed on
  CHECK(found_step(disk) == 40);
  CHECK(!find_checkpoint(FakeDisk{}, saved_dir));
  disk.content("dir/" + checkpoint_name(50)).pop_back();
  disk.content("dir/" + checkpoint_name(40)).pop_back();
  expect_error(ErrorKind::request, "all 2 checkpoint(s) are damaged",
               [&] { find_checkpoint(disk, saved_dir); });
}

TEST_CASE("checkpoint directory: what others have put there stays") {
  FakeDisk disk;
  for (const char* name :
       {"dir/notes.txt", "dir/mine.tmp", "dir/ckpt-best.safetensors", "dir/ckpt-000999.safetensors"})
    disk.put(name, "x");
  CHECK(save_until_stopped(disk, 50) == 50);
  for (const char* name :
       {"dir/notes.txt", "dir/mine.tmp", "dir/ckpt-best.safetensors", "dir/ckpt-000999.safetensors"})
    CHECK(disk.exists(name));
  CHECK(found_step(disk) == 50);
}

TEST_CASE(
    "checkpoint directory: another run's checkpoints are moved aside, whole, and nothing of them is lost") {
  FakeDisk disk = disk_with(50);
  disk.put("dir/notes.txt", "mine");
  const std::string old = disk.content("dir/" + checkpoint_name(50));
  CheckpointDirectory directory(disk, saved_dir, 2);
  CHECK(directory.move_aside() == "dir/earlier-1");
  CHECK(directory.move_aside().empty());
  save_step(directory, 10);
  CHECK(newest_step(disk, saved_dir) == 10);
  CHECK(found_step(disk) == 10);
  CHECK(disk.content("dir/earlier-1/" + checkpoint_name(50)) == old);
  CHECK(disk.exists("dir/earlier-1/" + checkpoint_name(40)));
  CHECK(disk.content("dir/earlier-1/latest") == checkpoint_name(50) + "\n");
  CHECK(disk.content("dir/notes.txt") == "mine");
  CHECK(directory.move_aside() == "dir/earlier-2");
  CHECK(disk.exists("dir/earlier-2/" + checkpoint_name(10)));
  CHECK(disk.exists("dir/earlier-1/" + checkpoint_name(50)));
}

TEST_CASE("checkpoint directory: the best stays beside the last two, and `best` and `latest` name one") {
  FakeDisk disk;
  CheckpointDirectory directory(disk, saved_dir, 2);
  directory.prepare();
  const auto steps = [&] {
    std::vector<std::string> names = disk.list(saved_dir);
    std::erase_if(names, [](const std::string& name) { return !parse_checkpoint_name(name); });
    std::sort(names.begin(), names.end());
    return names;
  };
  using Names = std::vector<std::string>;
  save_step(directory, 10);
  directory.make_best(checkpoint_name(10));
  for (const std::size_t step : {20U, 30U, 40U}) save_step(directory, step);
  CHECK(steps() == Names{checkpoint_name(10), checkpoint_name(30), checkpoint_name(40)});
  CHECK(follow_name(disk, "dir/best") == "dir/" + checkpoint_name(10));
  CHECK(follow_name(disk, "dir/latest") == "dir/" + checkpoint_name(40));
  CHECK_FALSE(follow_name(disk, "dir"));
  CHECK_FALSE(follow_name(disk, "dir/" + checkpoint_name(40)));
  directory.make_best(checkpoint_name(40));
  save_step(directory, 50);
  CHECK(steps() == Names{checkpoint_name(40), checkpoint_name(50)});  // the best is among the last two
  CheckpointDirectory resumed(disk, saved_dir, 2);
  resumed.prepare();
  for (const std::size_t step : {60U, 70U, 80U}) save_step(resumed, step);
  CHECK(steps() == Names{checkpoint_name(40), checkpoint_name(70), checkpoint_name(80)});
  resumed.move_aside();
  CHECK(follow_name(disk, "dir/earlier-1/best") == "dir/earlier-1/" + checkpoint_name(40));
  CHECK_FALSE(follow_name(disk, "dir/best"));
}

TEST_CASE("checkpoint directory: a disk without room keeps no unfinished one") {
  for (std::size_t call = 1; call <= 5; ++call) {  // created, written twice, synced, renamed
    CAPTURE(call);
    FakeDisk disk;
    disk.plan_fault(call, Fault::refuse);
    CheckpointDirectory directory(disk, saved_dir, 2);
    expect_error(ErrorKind::request, "No space left", [&] { save_step(directory, 10); });
    CHECK(disk.list(saved_dir).empty());
  }
}

TEST_CASE("checkpoint directory: on this machine's disk") {
  const std::string path =
      std::filesystem::temp_directory_path() / ("ddlrun_ckpt_" + std::to_string(::getpid()));
  const auto disk = make_posix_disk();
  CheckpointDirectory directory(*disk, path + "/a/b", 2);
  directory.prepare();
  for (const std::size_t step : {1, 2, 3}) save_step(directory, step);
  const auto found = find_checkpoint(*disk, path + "/a/b");
  REQUIRE(found);
  CHECK(found->path == path + "/a/b/ckpt-000003.safetensors");
  CHECK(disk->list(path + "/a/b").size() == 3);
  std::filesystem::remove_all(path);
  if (::access("/dev/full", W_OK) == 0) {
    expect_error(ErrorKind::request, "File exists", [&] { disk->create("/dev/full"); });
  }
}

TEST_CASE("checkpoint directory: who holds it is named, and where no rank can, that is reported") {
  using State = LockResult::State;
  struct Row {
    LockResult answer;
    std::string refusal;
    std::string note;
  };
  for (const Row& row :
       {Row{{State::ours, ""}, "", ""},
        Row{{State::others, "h1 4711\n"}, "another run saves to this directory: process 4711 on h1", ""},
        Row{{State::others, ""}, "another run saves to this directory", ""},
        Row{{State::others, "h1 \x1b[2J"}, "another run saves to this directory", ""},
        Row{{State::impossible, "No locks available"}, "", "cannot be locked (No locks available)"}}) {
    CAPTURE(row.answer.words);
    FakeDisk disk;
    disk.lock_answer = row.answer;
    if (!row.refusal.empty()) {
      expect_error(ErrorKind::request, row.refusal, [&] { lock_directory(disk, saved_dir); });
      continue;
    }
    const auto note = lock_directory(disk, saved_dir);
    CHECK(note.has_value() == !row.note.empty());
    if (note) CHECK(note->what.find(row.note) != std::string::npos);
  }
}

TEST_CASE("checkpoint directory: a lock of this machine's disk is one run's, and gone with it") {
  const std::string path =
      std::filesystem::temp_directory_path() / ("ddlrun_lock_" + std::to_string(::getpid()));
  std::filesystem::create_directory(path);
  std::ofstream(path + "/lock") << "other 1\n";  // left behind by one that died
  auto first = make_posix_disk();
  CHECK(first->lock(path + "/lock").state == LockResult::State::ours);
  CHECK(first->lock(path + "/lock").state == LockResult::State::ours);
  const auto second = make_posix_disk();
  const LockResult answer = second->lock(path + "/lock");
  CHECK(answer.state == LockResult::State::others);
  CHECK(answer.words.ends_with(" " + std::to_string(::getpid()) + "\n"));
  first.reset();
  CHECK(second->lock(path + "/lock").state == LockResult::State::ours);
  std::filesystem::create_directory(path + "/odd");
  expect_error(ErrorKind::request, "the lock file cannot be opened: Is a directory",
               [&] { second->lock(path + "/odd"); });
  std::filesystem::remove_all(path);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
