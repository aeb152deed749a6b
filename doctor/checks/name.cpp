// SPDX-License-Identifier: MIT
// The table of the checks of names and networks.
#include "doctor/checks/name.hpp"

#include <array>

namespace ddlrun::doctor {

std::span<const Check> name_checks() {
  static constexpr std::array<Check, 16> table{{
      {"NAME-01", "names resolve", Level::quick, Place::host,
       "A name that leads to no address stops ssh, mpirun and every rendezvous on that host.",
       "Each host asks its resolver (getaddrinfo) for all names of the job up to 512; of more, its own, the "
       "first and a "
       "sample of 64 that differs between hosts. fail: a name has no address. warn: only the ssh "
       "configuration "
       "of the driver host knows it, and the job has several hosts. One family (IPv4) is enough.",
       "Add the name to DNS, or to /etc/hosts of every host.", check_names_resolve},
      {"NAME-02", "rankfile names", Level::quick, Place::driver_host,
       "Open MPI compares the rankfile's names with those of the allocation as text: ib1 is not node1, "
       "though both are one "
       "machine. This was the famous \"either not allocated or oversubscribed its slots\".",
       "The rules of Open MPI 4.1 or 5.0, measured: names are cut at the first dot. 4.1: without a scheduler "
       "each name of the launching host counts as its host name; then the rankfile's names must be names of "
       "the hostfile, -H or the host list; in a Slurm allocation only its own names count. 5.0: the names "
       "must be what the allocation's hosts call themselves (hostname). The verdict is what mpirun will do: "
       "pass = it runs, fail = its message.",
       "Write those names in the rankfile and choose the network by --mca "
       "btl_tcp_if_include, "
       "NCCL_SOCKET_IFNAME and UCX_NET_DEVICES. Hosts need no renaming.",
       check_rankfile_names},
      {"NAME-03", "own name is no loopback", Level::quick, Place::host,
       "Debian writes \"127.0.1.1 HOST\" into /etc/hosts. Gloo and torch rendezvous then give the others an "
       "address that "
       "leads them to themselves. Open MPI does not mind.",
       "What getaddrinfo gives for the host's own name. warn: 127.0.0.0/8 or ::1 comes first, and the job "
       "has several "
       "hosts.",
       "Give the name the address of the network in /etc/hosts.", check_own_name},
      {"NAME-04", "same names everywhere", Level::quick, Place::host,
       "If two hosts take one name for different machines, ranks wait for peers that never come.",
       "The tables that all hosts resolved are compared name by name. fail: no address in common. More or "
       "fewer "
       "addresses of one host, their order, and a host's view of itself are in order.",
       "Make /etc/hosts equal on all hosts.", check_same_tables},
      {"NAME-05", "letters of names", Level::quick, Place::driver_host,
       "Open MPI refuses some names that DNS takes: with '_' (Open MPI 4), all digits, an FQDN that begins "
       "with a digit, words of the rankfile's language.",
       "The linter of rankfiles looks at each name of rankfile, allocation and host list. fail: Open MPI "
       "refuses it. "
       "warn: it is taken, but doubtful, or two spellings differ in case only.",
       "Use another name of the host, or its IPv4 address.", check_name_letters},
      {"NAME-06", "length of rankfile lines", Level::quick, Place::driver_host,
       "Open MPI 4 prints \"HOST slot=SLOTS\" into 64 bytes: a longer one aborts mpirun.",
       "length(host) + 6 + length(slots) of each line. fail: more than 63.",
       "Short host names, ranges instead of lists of cores.", check_rankfile_lines},
      {"NAME-07", "one name a machine", Level::quick, Place::host,
       "A machine that is in the host list twice gets twice the ranks on the same cores and GPUs.",
       "Two names are one machine where boot id, host name, and the hardware and network addresses of all "
       "interfaces "
       "agree (containers share a boot id). fail: such a pair.",
       "Take the alias out of the host list.", check_distinct_machines},
      {"NAME-08", "connection time", Level::quick, Place::host,
       "A login that takes many seconds is mostly sshd waiting for a name server; each launch pays for it.",
       "Time to the first word of ssh. warn: 5 s or more, fail: 10 s or more; with more than 8 hosts only if "
       "it is also "
       "twice the middle of all, as many logins at once slow each other.",
       "UseDNS no in sshd_config, or mend the reverse lookup.", check_connect_time},
      {"NAME-09", "the hostfile's numbers", Level::quick, Place::driver_host,
       "A number of slots that is none, or that is above max_slots, makes mpirun refuse the whole file.",
       "slots=, max_slots=, cpu= and count= of each line of --hostfile. pass: digits, and slots at most "
       "max_slots; fail: anything else.",
       "Write slots=NUMBER.", check_hostfile},
      {"MPI-04", "common network", Level::quick, Place::host,
       "Open MPI tries every interface. One that has the same address on several hosts (docker0, virbr0) "
       "leads it to "
       "itself.",
       "IPv4 networks in which every host has an address on an interface that is up, found by subnet and not "
       "by name; "
       "addresses that several hosts have alike do not count. fail: the network requested (--interface, "
       "OMPI_MCA_btl_tcp_if_include) does not serve. warn: no common network, or shared bridge addresses and "
       "nothing "
       "chosen. Several good networks are in order.",
       "Choose one by CIDR: --mca btl_tcp_if_include CIDR, or ddlrun launch --interface CIDR.",
       check_common_network},
      {"NET-01", "links and MTU", Level::quick, Place::host,
       "An interface that is down on one host takes the network from all of them; an MTU that differs drops "
       "large packets "
       "without a word.",
       "Every IPv4 network that at least two hosts share: state, carrier and MTU (getifaddrs, SIOCGIFMTU). "
       "fail: down on "
       "some, or an MTU unlike that of most. warn: a host without an address where three quarters have one.",
       "ip link set dev NAME up, or mtu N.", check_links},
      {"NET-02", "path MTU", Level::full, Place::pairs,
       "A switch port with a smaller MTU drops what its hosts send.",
       "Neighbours send each other UDP packets as large as the interface's MTU, not to be fragmented, three "
       "times. fail: "
       "they do not come, smaller ones do. skip: UDP is filtered.",
       "The same MTU on every hop.", check_path_mtu},
      {"NET-03", "connections between hosts", Level::full, Place::pairs,
       "mpirun's daemons, Open MPI's and NCCL's sockets use ports as they come; a firewall between the hosts "
       "makes them "
       "wait silently.",
       "All hosts listen at the same time on the asked ports and three of ip_local_port_range, and connect "
       "to their two "
       "neighbours in a ring, by name and by each further network that both have. fail: packets are dropped "
       "(no answer), "
       "refused though the other listened, or another machine answers.",
       "Let the job's own network through, between its hosts only.", check_connections},
      {"NET-04", "asked ports are free", Level::quick, Place::host,
       "Scripts hard-code ports such as 29500: two jobs on one host collide.",
       "Each asked port (--port, MASTER_PORT) is bound on the first host for a moment. fail: in use; by "
       "whom, as far as "
       "/proc shows it.",
       "Another port, derived from the job's number, or 0.", check_ports_free},
      {"NET-05", "rate between hosts", Level::stress, Place::pairs,
       "One slow link sets the pace of every allreduce.",
       "One TCP stream of a second to the next host in a ring, all at once. With a known link speed: warn "
       "below 70 %, "
       "fail below 40 %. Virtual ports have none: fail below a quarter of the middle of all.",
       "Cable, port, a rate limit, offloads.", check_stream_rate},
      {"SSH-03", "ssh along mpirun's tree", Level::full, Place::pairs,
       "From 66 hosts on, mpirun lets hosts start other hosts: they need to log in to each other, not only "
       "the driver host to "
       "them.",
       "The tree of daemons (routed_radix, 64) is computed; each host logs in to its children by ssh -o "
       "BatchMode=yes, at "
       "most 8 at once. fail: any edge. pass without a login where the driver host starts all itself.",
       "Keys and known_hosts on the hosts too, or OMPI_MCA_plm_rsh_no_tree_spawn=1.", check_launch_tree},
  }};
  return table;
}

}  // namespace ddlrun::doctor
