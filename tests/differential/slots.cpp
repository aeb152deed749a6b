// SPDX-License-Identifier: MIT
// slots SLOTPARSE DIRECTORY COUNT TOPOLOGY.xml...: COUNT random slot texts on each machine (the files, and
// synthetic ones made here). Where read_slots() finds no error, Open MPI's own parser must give exactly its
// hardware threads; where it offers a corrected text, Open MPI must read that as meant. Exit 1 if not.
#include "binding.hpp"
#include "topology/rankfile/slot_list.hpp"

#include <algorithm>
#include <random>
#include <span>

using namespace ddlrun;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;
using namespace ddlrun::tests;

namespace {

constexpr const char* synthetic_machines[] = {
    "pack:2 core:4 pu:2", "pack:1 core:6 pu:1", "pack:2 core:10 pu:8",
    "pack:4 core:3 pu:2", "core:12 pu:2",       "pack:2 numa:4 core:8 pu:2",
};

// Texts by grammar, with a slip of the pen now and then.
class SlotWriter {
 public:
  explicit SlotWriter(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string text = group();
    while (chance(3)) text += (chance(12) ? ";;" : ";") + group();
    if (chance(25)) text += ';';
    if (chance(20)) slip(text);
    return text;
  }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + random_() % words.size());
  }

  std::string number() {
    if (chance(30))
      return pick({"", "x", "00", "4294967296", "99999999999", "-1", "*", "1x", "0x2", "2147483648"});
    return std::to_string(chance(6) ? random_() % 200 : random_() % 8);
  }
  std::string range() {
    if (!chance(2)) return number();
    const auto first = random_() % 6;
    if (chance(8)) return number() + "-" + number();
    if (chance(30)) return number() + "-" + number() + "-" + number();
    return fmt::format("{}-{}", first, first + random_() % 5);
  }
  std::string package_cores() {
    std::string text = std::to_string(random_() % (chance(6) ? 8 : 3)) + ":" + (chance(8) ? "*" : range());
    if (chance(10)) text += ":" + range();
    if (chance(8)) text += "," + range();
    if (chance(8)) text += "," + package_cores();
    return chance(15) ? "S" + text : text;
  }
  std::string group() {
    if (chance(10)) return pick({"S", "s"}) + (chance(4) ? "*" : range());
    if (chance(40)) return pick({"", "*", ":", "0:", ":0", ",", "S", "-", "0:-", "c0", "0:c1", "P1"});
    if (!chance(3)) return package_cores();
    std::string text = range();
    while (chance(3)) text += "," + range();
    return text;
  }
  void slip(std::string& text) {
    static constexpr std::string_view bytes = "0123456789:;,-*sScCxP_@";
    if (text.empty()) return;
    const std::size_t at = random_() % text.size();
    if (chance(2)) {
      text.erase(at, 1);
    } else {
      text.insert(at, 1, bytes[random_() % bytes.size()]);
    }
  }

  std::mt19937_64 random_;
};

struct Counts {
  std::size_t texts = 0, clean = 0, refused = 0, crashed = 0, different = 0, strict = 0, corrected = 0,
              failures = 0;
};

std::vector<std::string> ask_open_mpi(const std::string& slotparse, const OracleMachine& machine,
                                      std::span<const std::string> texts, const std::string& directory) {
  std::string input;
  for (const std::string& text : texts) input += text + "\n";
  const std::string file = directory + "/slots.txt";
  PosixFiles().write(file, input);
  const auto said = PosixProcesses().run(
      {"/bin/sh", "-c", "exec \"$0\" \"$1\" < \"$2\"", slotparse, machine.xml_file, file}, {});
  std::vector<std::string> answers;
  for (const auto line : split(said.out, '\n')) {
    // hwloc 2.9 talks on stdout about some machines
    if (line.find('\t') != std::string_view::npos) answers.emplace_back(line);
  }
  return answers;
}

std::string wanted_answer(const OracleMachine& machine, const std::vector<CoreIndex>& cores) {
  std::vector<int> pus;
  for (const PuIndex pu : pus_of_cores(machine.topology, cores)) pus.push_back(pu.os);
  return "0\t" + render_ranges(pus);
}

void count(Counts& counts, const OracleMachine& machine, const std::string& text, const SlotReading& reading,
           const std::string& answer) {
  ++counts.texts;
  const std::string wanted = wanted_answer(machine, reading.cores);
  if (!reading.has_errors()) {
    ++counts.clean;
    if (answer == wanted) return;
    ++counts.failures;
    fmt::print("MISSED \"{}\" on {}: ours {}, Open MPI {}\n", text, machine.name, wanted, answer);
  } else if (answer.starts_with("crash")) {
    ++counts.crashed;
  } else if (!answer.starts_with("0\t")) {
    ++counts.refused;
  } else if (answer != wanted) {
    ++counts.different;
  } else {
    ++counts.strict;  // flagged although Open MPI happens to bind what was meant
  }
}

// Every corrected text must be read by Open MPI as the cores that were meant.
void judge_corrections(Counts& counts, const std::string& slotparse, const OracleMachine& machine,
                       const std::vector<SlotReading>& readings, const std::string& directory) {
  std::vector<std::string> texts, wanted;
  for (const SlotReading& reading : readings) {
    if (reading.problems.empty() || reading.problems.front().corrected.empty()) continue;
    texts.push_back(reading.problems.front().corrected);
    wanted.push_back(wanted_answer(machine, reading.cores));
  }
  const auto answers = ask_open_mpi(slotparse, machine, texts, directory);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ++counts.corrected;
    if (i < answers.size() && answers[i] == wanted[i]) continue;
    ++counts.failures;
    fmt::print("BADLY CORRECTED \"{}\" on {}: meant {}, Open MPI {}\n", texts[i], machine.name, wanted[i],
               i < answers.size() ? answers[i] : "nothing");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto most = words.size() < 3 ? std::nullopt : parse_unsigned(words[2], 10'000'000);
  if (!most) {
    fmt::print(stderr, "usage: slots SLOTPARSE DIRECTORY COUNT TOPOLOGY.xml...\n");
    return 2;
  }
  std::vector<OracleMachine> machines;
  for (const char* text : synthetic_machines) machines.push_back(synthetic_machine(text, words[1]));
  for (std::size_t i = 3; i < words.size(); ++i) machines.push_back(machine_of_file(words[i]));
  Counts counts;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    SlotWriter writer(m + 1);
    std::vector<std::string> texts;
    while (texts.size() < *most) texts.push_back(writer.text());
    const auto answers = ask_open_mpi(words[0], machines[m], texts, words[1]);
    std::vector<SlotReading> readings;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].empty()) {  // Open MPI's grammar never hands one on
        readings.emplace_back();
        continue;
      }
      readings.push_back(read_slots(texts[i], &machines[m].topology));
      count(counts, machines[m], texts[i], readings.back(), i < answers.size() ? answers[i] : "nothing");
    }
    judge_corrections(counts, words[0], machines[m], readings, words[1]);
  }
  fmt::print(
      "{} texts on {} machines: {} read alike; flagged: {} refused, {} crash, {} bound otherwise, {} bound "
      "as "
      "meant; {} corrections; {} failures\n",
      counts.texts, machines.size(), counts.clean, counts.refused, counts.crashed, counts.different,
      counts.strict, counts.corrected, counts.failures);
  return counts.failures == 0 ? 0 : 1;
}
