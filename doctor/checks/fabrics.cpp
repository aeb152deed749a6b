// SPDX-License-Identifier: MIT
// IB-07..12, OPA-01, EFA-01: who may use a fabric, and whether the job's settings and software fit it.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"
#include "doctor/parse/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ddlrun::doctor {
namespace {

CheckResult evaluate_verbs(const HostReport& host) {
  std::vector<std::string> denied, missing;
  std::size_t usable = 0;
  for (const std::string_view line : host.facts.list("ib.uverbs")) {
    const auto words = split(line, ' ');
    if (words.size() < 3) continue;
    const std::string path = quote_shell("/dev/infiniband/" + std::string(words[0]));
    if (words[2] == "rw") ++usable;
    if (words[2] == "no") denied.push_back(path);  // "no access"
    if (words[2] == "missing") missing.push_back(path);
  }
  if (denied.empty() && missing.empty() && usable > 0)
    return pass(fmt::format("{} usable", count_of(usable, "verbs device")));
  const char* why = "the fabric cannot be opened by programs: MPI and NCCL silently use TCP";
  if (!denied.empty()) {
    return verdict_of(
        Verdict::fail, "no access to " + join(denied, ", "), "readable and writable", why,
        as_root({"chmod 0666 " + join(denied, " "),
                 "printf 'KERNEL==\"uverbs*\", MODE=\"0666\"\\n' > /etc/udev/rules.d/90-ddlrun-rdma.rules"},
                "or put the user into the group that owns them (ls -l /dev/infiniband)"));
  }
  if (!missing.empty()) {
    return verdict_of(
        Verdict::fail, "missing: " + join(missing, ", "), "present, readable and writable", why,
        as_root({"modprobe ib_uverbs"}, "in a container: start it with --device /dev/infiniband"));
  }
  return verdict_of(
      Verdict::fail, "RDMA devices, but no /dev/infiniband/uverbs*", "one for each device", why,
      as_root({"modprobe ib_uverbs"}, "in a container: start it with --device /dev/infiniband"));
}

std::vector<Finding> check_verbs(const CheckInput& input) {
  return evaluate_where(input, "IB-07", skip_without_rdma, "devices", evaluate_verbs);
}

CheckResult evaluate_gpudirect(const HostReport& host) {
  if (host.facts.number("gpu.count").value_or(0) == 0) return skip("no NVIDIA GPU on the PCI bus");
  const auto ports = ports_of(host);
  if (std::none_of(ports.begin(), ports.end(), [](const PortFacts& port) { return port.is_active(); })) {
    return skip("no RDMA port is up");
  }
  for (const char* module : {"nvidia_peermem", "nv_peer_mem"}) {
    if (host.facts.is("ib.module." + std::string(module), "yes"))
      return pass(fmt::format("module {}", module));
  }
  const std::string kernel(host.facts.text("ib.kernel").value_or("0"));
  const bool open_driver = host.facts.is("gpu.driver.kind", "open");
  if (open_driver && compare_versions(kernel, "5.12") >= 0) return pass("open kernel module with dma-buf");
  return verdict_of(
      Verdict::warn,
      fmt::format("no nvidia_peermem; {} driver, kernel {}",
                  host.facts.text("gpu.driver.kind").value_or("unknown"), kernel),
      "nvidia_peermem, or the open kernel module on Linux 5.12 or newer",
      "data go from GPU to adapter through the host's memory: about half the bandwidth",
      as_root({"modprobe nvidia-peermem", "echo nvidia-peermem > /etc/modules-load.d/nvidia-peermem.conf"}));
}

std::vector<Finding> check_gpudirect(const CheckInput& input) {
  return evaluate_where(input, "IB-08", skip_without_rdma, "devices", evaluate_gpudirect);
}

// Entries of NCCL_IB_HCA ("=mlx5_0:1,mlx5_1", "^mlx5_2", "mlx5") that fit no device; an excluding list ("^")
// may.
std::vector<std::string> unknown_adapters(const HostReport& host, std::string_view value) {
  const bool excludes = value.starts_with('^');
  if (excludes) return {};
  const bool exact = value.starts_with('=');
  if (exact) value.remove_prefix(1);
  std::set<std::string> devices;
  for (const PortFacts& port : ports_of(host)) devices.insert(port.device);
  std::vector<std::string> unknown;
  for (const std::string_view entry : split(value, ',')) {
    const std::string_view name = entry.substr(0, entry.find(':'));
    const bool known = std::any_of(devices.begin(), devices.end(), [&](const std::string& device) {
      return exact ? device == name : device.starts_with(name);
    });
    if (!name.empty() && !known) unknown.emplace_back(name);
  }
  return unknown;
}

// UCX_NET_DEVICES=mlx5_0:1,eth0: only names that look like RDMA devices are evaluated here.
std::vector<std::string> unknown_ucx(const HostReport& host, std::string_view value) {
  std::set<std::string> ports;
  for (const PortFacts& port : ports_of(host)) ports.insert(port.device + ":" + port.port);
  std::vector<std::string> unknown;
  for (const std::string_view entry : split(value, ',')) {
    if (entry.find(':') != std::string_view::npos && !ports.contains(std::string(entry)))
      unknown.emplace_back(entry);
  }
  return unknown;
}

std::vector<std::string> device_names(const HostReport& host) {
  std::set<std::string> names;
  for (const PortFacts& port : ports_of(host)) names.insert(port.device);
  return {names.begin(), names.end()};
}

CheckResult evaluate_rdma_settings(const CheckInput& input, const HostReport& host) {
  const auto hca = variable_of(input, host, "NCCL_IB_HCA", "ib.env.");
  const auto ucx = variable_of(input, host, "UCX_NET_DEVICES", "ib.env.");
  for (const auto& [name, value, unknown] :
       {std::tuple("NCCL_IB_HCA", hca, hca ? unknown_adapters(host, *hca) : std::vector<std::string>()),
        std::tuple("UCX_NET_DEVICES", ucx, ucx ? unknown_ucx(host, *ucx) : std::vector<std::string>())}) {
    if (unknown.empty()) continue;
    return verdict_of(Verdict::fail, fmt::format("{}={}: no {} here", name, *value, join(unknown, ", ")),
                      "names of this host: " + join(device_names(host), ", "),
                      "NCCL finds no adapter and uses TCP; UCX ends with 'no usable transports'",
                      as_user({"ls /sys/class/infiniband", fmt::format("unset {}", name)},
                              "name adapters that all hosts have, or leave the choice to the library"));
  }
  const auto gid = variable_of(input, host, "NCCL_IB_GID_INDEX", "ib.env.");
  const auto nccl = host.facts.text("nccl.version");
  if (gid && nccl && compare_versions(*nccl, "2.21") >= 0) {
    return verdict_of(Verdict::warn, fmt::format("NCCL_IB_GID_INDEX={} with NCCL {}", *gid, *nccl), "not set",
                      "NCCL 2.21 and later choose the GID themselves; a number that is wrong on one host "
                      "stops the job there",
                      as_user({"unset NCCL_IB_GID_INDEX"}));
  }
  if (hca) return pass(fmt::format("NCCL_IB_HCA={}: present", *hca));
  return pass("no adapter or GID is prescribed");
}

std::vector<Finding> check_rdma_settings(const CheckInput& input) {
  return evaluate_where(input, "IB-09", skip_without_rdma, "devices",
                        [&](const HostReport& host) { return evaluate_rdma_settings(input, host); });
}

// The subnet prefixes of the ports in use: the first half of a GID.
std::set<std::string> prefixes_of(const HostReport& host) {
  std::set<std::string> prefixes;
  for (const PortFacts& port : ports_of(host)) {
    const auto gid = port.text("gid");
    if (port.is_active() && port.is_infiniband() && gid && gid->size() >= 19)
      prefixes.emplace(gid->substr(0, 19));
  }
  return prefixes;
}

std::optional<std::string> render_prefixes(const HostReport& host) {
  const auto prefixes = prefixes_of(host);
  if (prefixes.empty()) return std::nullopt;
  return "subnet " + join(std::vector<std::string>(prefixes.begin(), prefixes.end()), ", ");
}

std::vector<Finding> check_subnets(const CheckInput& input) {
  std::map<std::string, std::size_t> hosts_of;
  std::size_t hosts = 0;
  for (const HostReport& host : input.hosts) {
    const auto prefixes = prefixes_of(host);
    hosts += prefixes.empty() ? 0 : 1;
    for (const std::string& prefix : prefixes) ++hosts_of[prefix];
  }
  const bool common =
      std::any_of(hosts_of.begin(), hosts_of.end(), [&](const auto& entry) { return entry.second == hosts; });
  if (common || hosts == 0) {
    return evaluate_where(input, "IB-10", skip_without_rdma, "devices", [](const HostReport& host) {
      const auto seen = render_prefixes(host);
      return seen ? pass(*seen) : skip("no active InfiniBand port");
    });
  }
  CheckResult words;
  words.why = "adapters of different fabrics do not reach each other, although all ports are ACTIVE";
  words.remedy = as_user({"ibstat", "cat /sys/class/infiniband/*/ports/*/gids/0"},
                         "choose hosts, or adapters (NCCL_IB_HCA, UCX_NET_DEVICES), of one fabric");
  return check_equal(input, "IB-10", Verdict::fail, render_prefixes, words, "no active InfiniBand port");
}

// "MT_0000000008 16.35.2000; rdma-core 44.0": firmware only of ports in use.
std::optional<std::string> versions_of(const HostReport& host) {
  std::set<std::string> parts;
  for (const PortFacts& port : ports_of(host)) {
    const auto firmware = host.facts.text("ib." + port.device + ".firmware");
    if (!port.is_active() || !firmware) continue;
    parts.insert(fmt::format(
        "{} firmware {}", host.facts.text("ib." + port.device + ".board").value_or(port.device), *firmware));
  }
  if (parts.empty()) return std::nullopt;
  std::vector<std::string> shown(parts.begin(), parts.end());
  if (const auto ofed = host.facts.text("ib.ofed")) shown.push_back(fmt::format("driver {}", *ofed));
  if (const auto core = host.facts.text("ib.rdma_core")) shown.push_back(fmt::format("libibverbs {}", *core));
  return join(shown, ", ");
}

std::vector<Finding> check_versions(const CheckInput& input) {
  CheckResult words;
  words.why =
      "adapters of one kind with different firmware or drivers differ in features and bugs: faults that come "
      "and go by host";
  words.remedy = by_hand(
      "harmless for a first run; ask the administrator for one firmware and one RDMA package on all hosts");
  return check_equal(input, "IB-11", Verdict::warn, versions_of, words,
                     "no active RDMA port with a firmware version");
}

CheckResult evaluate_bandwidth(const HostReport& host) {
  const auto gbits = host.facts.number("ib.load.mbits");
  if (!gbits) return skip_for_stress(host, "ib.load.mbits");
  const std::uint64_t rate = host.facts.number("ib.bw.rate_mbits").value_or(0);
  if (rate == 0) return skip("the port's rate is not known");
  const std::string to(host.facts.text("ib.bw.to").value_or("its neighbour"));
  const double share = 100.0 * static_cast<double>(*gbits) / static_cast<double>(rate);
  const std::string expected = fmt::format("at least 90 % of {} Gb/s", rate / 1000);
  if (share >= 90) return pass("ib_write_bw at least 90 % of the port's rate");
  return verdict_of(
      share >= 70 ? Verdict::warn : Verdict::fail,
      fmt::format("{:.1f} Gb/s to {} ({:.0f} % of the port's rate)", static_cast<double>(*gbits) / 1000, to,
                  share),
      expected, "this pair holds up every collective",
      as_root({"mlxlink -d " + quote_shell(host.facts.text("ib.bw.device").value_or("mlx5_0")) + " -m -c -e",
               "ibdiagnet"},
              "compare with other rails and neighbours; look at PCIe width (lspci -vv) and cable"));
}

std::vector<Finding> check_bandwidth(const CheckInput& input) {
  return evaluate_where(input, "IB-12", skip_without_rdma, "fabric-stress", evaluate_bandwidth);
}

bool asks_psm2(const Job& job) {
  const auto mtl = job.environment.find("OMPI_MCA_mtl"), provider = job.environment.find("FI_PROVIDER");
  const bool by_name =
      (mtl != job.environment.end() && mtl->second == "psm2") ||
      (provider != job.environment.end() && provider->second.find("psm2") != std::string::npos);
  return by_name || std::find(job.program.begin(), job.program.end(), "-PSM2") != job.program.end();
}

CheckResult evaluate_omni_path(const CheckInput& input, const HostReport& host) {
  const auto nodes = host.facts.list("opa.nodes");
  const bool asked = asks_psm2(input.job);
  const auto lack = [&](std::string observed, Remedy remedy) {
    return verdict_of(Verdict::fail, std::move(observed), "hfi1 device, ACTIVE, with libpsm2",
                      "the job requests PSM2 and ends with 'PSM2 no hfi units are available'",
                      std::move(remedy));
  };
  if (nodes.empty()) {
    if (!asked) return skip("no Omni-Path adapter");
    return lack("PSM2 is requested, and there is no hfi1 device",
                by_hand("leave out -PSM2 (or FI_PROVIDER, OMPI_MCA_mtl), or choose hosts with Omni-Path"));
  }
  for (const std::string_view line : nodes) {
    if (line.ends_with(" rw")) continue;
    const std::string path = quote_shell("/dev/" + std::string(line.substr(0, line.find(' '))));
    if (asked)
      return lack("no access to " + path,
                  as_root({"modprobe hfi1", "ls -l " + path}, "a udev rule or group gives users access"));
    return skip("no access to " + path + ", and the job does not ask for PSM2");
  }
  if (!host.facts.text("opa.psm2")) {
    const std::string why = host.facts.why_missing("opa.psm2");
    return asked ? lack(why, as_root({"apt-get install -y libpsm2-2 || dnf install -y libpsm2"})) : skip(why);
  }
  const auto ports = ports_of(host);
  const bool active = std::any_of(ports.begin(), ports.end(), [](const PortFacts& port) {
    return port.device.starts_with("hfi1_") && port.is_active();
  });
  if (!active && asked)
    return lack("no hfi1 port is ACTIVE", as_root({"opainfo", "systemctl status --no-pager opafm"},
                                                  "check cable, switch and fabric manager"));
  return active ? pass("hfi1 ACTIVE, libpsm2 present")
                : skip("no hfi1 port is ACTIVE, and the job does not ask for PSM2");
}

std::vector<Finding> check_omni_path(const CheckInput& input) {
  return evaluate_each(
      input, "OPA-01",
      [&](const HostReport& host) {
        if (!host.facts.number("ib.count")) return skip(host.facts.why_missing("ib.count"));
        return evaluate_omni_path(input, host);
      },
      "devices");
}

CheckResult evaluate_efa(const CheckInput& input, const HostReport& host) {
  const auto devices = host.facts.list("efa.devices");
  const bool asked =
      variable_of(input, host, "FI_PROVIDER", "ib.env.").value_or("").find("efa") != std::string::npos;
  if (devices.empty() && !asked) return skip("no EFA adapter");
  const std::string provider(host.facts.text("efa.provider").value_or("not asked"));
  if (provider == "listed") return pass("libfabric lists the provider efa");
  if (!asked && provider != "not listed") return skip(provider);
  return verdict_of(
      Verdict::fail,
      devices.empty()
          ? std::string("EFA is requested, and there is no EFA adapter")
          : fmt::format("{}, fi_info -p efa: {}", count_of(devices.size(), "EFA adapter"), provider),
      "provider efa listed by fi_info",
      "libfabric falls back to TCP, or the job ends with 'No data available' (fi_getinfo: -61)",
      as_root({"fi_info -p efa", "modprobe efa"},
              "install the provider's EFA package, and choose instances with EFA and its security group"));
}

std::vector<Finding> check_efa(const CheckInput& input) {
  return evaluate_each(
      input, "EFA-01",
      [&](const HostReport& host) {
        if (!host.facts.number("ib.count")) return skip(host.facts.why_missing("ib.count"));
        return evaluate_efa(input, host);
      },
      "devices");
}

}  // namespace

std::span<const Check> fabric_checks() {
  static constexpr Check table[] = {
      {"IB-07", "access to RDMA devices", Level::quick, Place::host,
       "Programs open a fabric through /dev/infiniband; denied, they fall back to TCP.",
       "/sys/class/infiniband_verbs and access(2) on each /dev/infiniband/uverbsN. fail: missing or not "
       "readable and writable.",
       "udev rule or group; modprobe ib_uverbs; container: --device /dev/infiniband.", check_verbs},
      {"IB-08", "GPUDirect RDMA", Level::quick, Place::host,
       "Without it each byte between GPU and adapter goes through the host's memory.",
       "Hosts with GPUs and an active port: module nvidia_peermem (or nv_peer_mem) in /sys/module, else the "
       "open kernel module (/proc/driver/nvidia/version) on Linux 5.12 or newer. warn: neither.",
       "modprobe nvidia-peermem, or the open driver.", check_gpudirect},
      {"IB-09", "NCCL's and UCX's adapter settings", Level::quick, Place::host,
       "A name that one host lacks makes that host use TCP, or end.",
       "NCCL_IB_HCA, UCX_NET_DEVICES and NCCL_IB_GID_INDEX of the job, else of a shell on the host. fail: a "
       "named adapter is not there. warn: a GID index with NCCL 2.21 or newer.",
       "unset them, or name adapters that all hosts have.", check_rdma_settings},
      {"IB-10", "one fabric", Level::quick, Place::pairs,
       "Adapters of two separate fabrics do not reach each other.",
       "Subnet prefix (first half of GID 0) of active InfiniBand ports. pass: some prefix is on all hosts. "
       "fail: none is.",
       "Hosts, or adapters, of one fabric.", check_subnets},
      {"IB-11", "RDMA firmware and drivers", Level::quick, Place::pairs,
       "Mixed firmware gives faults that come and go by host.",
       "fw_ver and board_id of devices in use, the version of module mlx5_core, and of libibverbs. warn: "
       "they differ.",
       "One firmware and one RDMA package.", check_versions},
      {"IB-12", "RDMA bandwidth", Level::stress, Place::pairs, "One slow pair sets the pace of a ring.",
       "ib_write_bw, where installed, from each host to the next in the list. pass: 90 % of the port's rate. "
       "warn: 70 to 90 %. fail: less.",
       "Cable, PCIe width, other rails; ibdiagnet.", check_bandwidth},
      {"OPA-01", "Omni-Path", Level::quick, Place::host,
       "A job that requests PSM2 ends without an Omni-Path adapter.",
       "hfi1_* devices, /dev/hfi1_*, libpsm2.so.2. fail: the job requests PSM2 (-PSM2, FI_PROVIDER, "
       "OMPI_MCA_mtl) and one of them is missing. Not requested: skip or pass.",
       "Hosts with Omni-Path, or another transport.", check_omni_path},
      {"EFA-01", "Elastic Fabric Adapter", Level::quick, Place::host,
       "Without the provider efa libfabric uses TCP.",
       "RDMA devices with the driver efa; fi_info -p efa where there is one or FI_PROVIDER requests it. "
       "fail: requested or present, and not listed.",
       "Install the EFA package.", check_efa},
  };
  return table;
}

}  // namespace ddlrun::doctor
