// SPDX-License-Identifier: MIT
#include "topology/machine_json.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace ddlrun::topology {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "ddlrun.topo/1";
constexpr int max_depth = 16;
constexpr int max_number = 1 << 24;  // for every index and OS number

// ---- writing

Json core_numbers(const std::vector<CoreIndex>& cores) {
  Json numbers = Json::array();
  for (const CoreIndex core : cores) numbers.push_back(core.logical);
  return numbers;
}

Json pu_numbers(const std::vector<PuIndex>& pus) {
  Json numbers = Json::array();
  for (const PuIndex pu : pus) numbers.push_back(pu.os);
  return numbers;
}

Json to_json(const Package& package) {
  return {{"logical", package.logical},
          {"os", package.os},
          {"model", package.model},
          {"core_count", package.core_count}};
}

Json to_json(const NumaNode& node) {
  return {{"logical", node.logical},
          {"os", node.os},
          {"memory_bytes", node.memory_bytes},
          {"memory_only", node.memory_only},
          {"cores", core_numbers(node.cores)}};
}

Json to_json(const Core& core) {
  return {{"index", core.index.logical},
          {"package", core.package},
          {"index_in_package", core.index_in_package},
          {"numa_node", core.numa_node},
          {"pus", pu_numbers(core.pus)}};
}

Json to_json(const Gpu& gpu) {
  return {{"index", gpu.index},           {"vendor", gpu.vendor},     {"model", gpu.model},
          {"pci_bus_id", gpu.pci_bus_id}, {"uuid", gpu.uuid},         {"numa_node", gpu.numa_node},
          {"package", gpu.package},       {"locality", gpu.locality}, {"cores", core_numbers(gpu.cores)}};
}

Json to_json(const Nic& nic) {
  return {{"name", nic.name},
          {"kind", nic.kind},
          {"pci_bus_id", nic.pci_bus_id},
          {"address", nic.address},
          {"numa_node", nic.numa_node}};
}

// Bytes that are no UTF-8 become U+FFFD: the document stays valid whatever a name holds.
std::string write(const Json& value) {
  return escape_json(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

template <typename Item>
std::string write_lines(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "\n  " : ",\n  ") + write(to_json(item));
  return "[" + text + (text.empty() ? "]" : "\n ]");
}

// ---- reading

// Thrown by the parser's callback; nlohmann passes it through.
struct TooDeep {};

// One object of the document with its path; every member must be requested exactly once.
class Reader {
 public:
  Reader(const Json& value, std::string path, const std::string& where)
      : value_(value), path_(std::move(path)), where_(where) {
    if (!value.is_object()) refuse("", "is not an object");
  }

  [[noreturn]] void refuse(std::string_view key, const std::string& why) const {
    const std::string path = key.empty() ? path_ : fmt::format("{}.{}", path_, key);
    throw Error(ErrorKind::request, {fmt::format("{} {}", path, why), where_, "ddlrun topo --json"});
  }

  const Json& member(std::string_view key) {
    const auto found = value_.find(std::string(key));
    if (found == value_.end()) refuse(key, "is missing");
    asked_.insert(std::string(key));
    return *found;
  }

  std::string text(std::string_view key) {
    const Json& value = member(key);
    if (!value.is_string()) refuse(key, "is not a text");
    return value.get<std::string>();
  }

  bool flag(std::string_view key) {
    const Json& value = member(key);
    if (!value.is_boolean()) refuse(key, "is not true or false");
    return value.get<bool>();
  }

  // A whole number in [least, limit).
  int number(std::string_view key, int least, int limit) {
    return checked(member(key), std::string(key), least, limit);
  }

  std::uint64_t bytes(std::string_view key) {
    const Json& value = member(key);
    if (!value.is_number_unsigned()) refuse(key, "is not a whole number of bytes");
    return value.get<std::uint64_t>();
  }

  // Ascending whole numbers in [0, limit).
  std::vector<int> numbers(std::string_view key, int limit) {
    std::vector<int> result;
    for (const Json& value : array(key)) {
      const std::string place = fmt::format("{}[{}]", key, result.size());
      result.push_back(checked(value, place, 0, limit));
      if (result.size() > 1 && result[result.size() - 2] >= result.back()) refuse(place, "does not ascend");
    }
    return result;
  }

  const Json& array(std::string_view key) {
    const Json& value = member(key);
    if (!value.is_array()) refuse(key, "is not a list");
    return value;
  }

  template <typename Read>
  void each(std::string_view key, const Read& read) {
    std::size_t index = 0;
    for (const Json& value : array(key)) {
      Reader reader(value, fmt::format("{}.{}[{}]", path_, key, index), where_);
      read(reader, static_cast<int>(index++));
      reader.finish();
    }
  }

  void ignore(std::string_view key) { asked_.insert(std::string(key)); }

  void finish() const {
    for (const auto& [key, value] : value_.items()) {
      if (!asked_.contains(key)) refuse(printable(key, 40), "is not a key of " + std::string(schema));
    }
  }

 private:
  int checked(const Json& value, const std::string& place, int least, int limit) const {
    if (!value.is_number_integer()) refuse(place, "is not a whole number");
    const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT32_MAX;
    const std::int64_t number = huge ? INT32_MAX : value.get<std::int64_t>();
    if (number < least || number >= limit) {
      refuse(place, fmt::format("is {}, and only {} to {} is possible", write(value), least, limit - 1));
    }
    return static_cast<int>(number);
  }

  const Json& value_;
  std::string path_;
  const std::string& where_;
  std::set<std::string> asked_;
};

Json parse_document(std::string_view text, const std::string& where) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::request, {what, where, "ddlrun topo --json"});
  };
  if (text.size() > max_machine_json_bytes) {
    refuse(fmt::format("the document has {} bytes, more than {}", text.size(), max_machine_json_bytes));
  }
  try {
    return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > max_depth) throw TooDeep();
      return true;
    });
  } catch (const TooDeep&) {
    refuse(fmt::format("the document is nested deeper than {} levels", max_depth));
  } catch (const nlohmann::json::parse_error& error) {
    refuse(fmt::format("this is not JSON: wrong at byte {} of {}", error.byte, text.size()));
  } catch (const nlohmann::json::exception&) {
    refuse("this is not JSON: a number is too large");
  }
  return {};
}

std::vector<CoreIndex> core_list(Reader& reader, std::string_view key, std::size_t core_count) {
  std::vector<CoreIndex> cores;
  for (const int core : reader.numbers(key, static_cast<int>(core_count))) cores.push_back({core});
  return cores;
}

int size_of(const auto& items) { return static_cast<int>(items.size()); }

Core read_core(Reader& reader, int index, const MachineTopology& machine, std::set<int>& seen_pus) {
  Core core;
  core.index.logical = reader.number("index", index, index + 1);
  core.package = reader.number("package", -1, size_of(machine.packages));
  core.index_in_package = reader.number("index_in_package", 0, max_number);
  core.numa_node = reader.number("numa_node", -1, size_of(machine.numa_nodes));
  for (const int pu : reader.numbers("pus", max_number)) {
    if (!seen_pus.insert(pu).second) reader.refuse("pus", fmt::format("names PU {} for the second time", pu));
    core.pus.push_back({pu});
  }
  if (core.pus.empty()) reader.refuse("pus", "is empty: a usable core has at least one");
  return core;
}

Gpu read_gpu(Reader& reader, int index, const MachineTopology& machine) {
  Gpu gpu;
  gpu.index = reader.number("index", index, index + 1);
  gpu.vendor = reader.text("vendor");
  gpu.model = reader.text("model");
  gpu.pci_bus_id = reader.text("pci_bus_id");
  gpu.uuid = reader.text("uuid");
  gpu.numa_node = reader.number("numa_node", -1, size_of(machine.numa_nodes));
  gpu.package = reader.number("package", -1, size_of(machine.packages));
  gpu.locality = reader.text("locality");
  gpu.cores = core_list(reader, "cores", machine.cores.size());
  return gpu;
}

// The counts that stand in two places must agree, or S:C would mean something else here and there.
void check_packages(const MachineTopology& machine, const Reader& root) {
  std::vector<int> count(machine.packages.size());
  int without = 0;
  for (const Core& core : machine.cores) {
    int& place = core.package < 0 ? without : count[static_cast<std::size_t>(core.package)];
    if (core.index_in_package != place++) {
      root.refuse(fmt::format("cores[{}].index_in_package", core.index.logical),
                  fmt::format("is {}, but {} cores of package {} come before it", core.index_in_package,
                              place - 1, core.package));
    }
  }
  for (const Package& package : machine.packages) {
    const int found = count[static_cast<std::size_t>(package.logical)];
    if (found != package.core_count) {
      root.refuse(fmt::format("packages[{}].core_count", package.logical),
                  fmt::format("is {}, but {} cores name this package", package.core_count, found));
    }
  }
}

}  // namespace

std::string render_machine_json(const MachineTopology& machine) {
  std::string text = "{\n";
  const auto line = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{} \"{}\": {}", text.size() > 2 ? ",\n" : "", key, value);
  };
  line("schema", write(schema));
  line("host_name", write(machine.host_name));
  line("source", write(machine.source));
  line("assumed", machine.assumed ? "true" : "false");
  line("packages", write_lines(machine.packages));
  line("numa_nodes", write_lines(machine.numa_nodes));
  line("cores", write_lines(machine.cores));
  line("unusable_pus", write(pu_numbers(machine.unusable_pus)));
  line("gpus", write_lines(machine.gpus));
  line("nics", write_lines(machine.nics));
  return text + "\n}\n";
}

MachineTopology parse_machine_json(std::string_view text, const std::string& where) {
  const Json document = parse_document(text, where);
  Reader root(document, "$", where);
  if (const std::string found = root.text("schema"); found != schema) {
    root.refuse("schema", fmt::format("is '{}', and only '{}' is known", printable(found, 40), schema));
  }
  MachineTopology machine;
  machine.host_name = root.text("host_name");
  machine.source = root.text("source");
  machine.assumed = root.flag("assumed");
  root.each("packages", [&](Reader& reader, int index) {
    machine.packages.push_back({reader.number("logical", index, index + 1),
                                reader.number("os", 0, max_number), reader.text("model"),
                                reader.number("core_count", 0, max_number)});
  });
  const std::size_t core_count = root.array("cores").size();
  root.each("numa_nodes", [&](Reader& reader, int index) {
    machine.numa_nodes.push_back({reader.number("logical", index, index + 1),
                                  reader.number("os", 0, max_number), reader.bytes("memory_bytes"),
                                  reader.flag("memory_only"), core_list(reader, "cores", core_count)});
  });
  std::set<int> seen_pus;
  root.each("cores", [&](Reader& reader, int index) {
    machine.cores.push_back(read_core(reader, index, machine, seen_pus));
  });
  for (const int pu : root.numbers("unusable_pus", max_number)) machine.unusable_pus.push_back({pu});
  root.each("gpus",
            [&](Reader& reader, int index) { machine.gpus.push_back(read_gpu(reader, index, machine)); });
  root.each("nics", [&](Reader& reader, int) {
    machine.nics.push_back({reader.text("name"), reader.text("kind"), reader.text("pci_bus_id"),
                            reader.text("address"),
                            reader.number("numa_node", -1, size_of(machine.numa_nodes))});
  });
  root.ignore("cuda");  // what `topo --cuda --json` adds
  root.finish();
  check_packages(machine, root);
  return machine;
}

}  // namespace ddlrun::topology
