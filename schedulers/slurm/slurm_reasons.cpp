// SPDX-License-Identifier: MIT
// Slurm's words for states, reasons and refusals, and what they mean.
#include "schedulers/slurm/slurm_answers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ddlrun::schedulers {

namespace {

using Phrase = std::string_view;

constexpr std::pair<Phrase, JobState> kStates[] = {
    {"PENDING", JobState::queued},
    {"CONFIGURING", JobState::queued},
    {"REQUEUED", JobState::queued},
    {"REQUEUE_FED", JobState::queued},
    {"POWER_UP_NODE", JobState::queued},
    {"REQUEUE_HOLD", JobState::held},
    {"SPECIAL_EXIT", JobState::held},
    {"RESV_DEL_HOLD", JobState::held},
    {"SUSPENDED", JobState::held},
    {"RUNNING", JobState::running},
    {"COMPLETING", JobState::running},
    {"STAGE_OUT", JobState::running},
    {"SIGNALING", JobState::running},
    {"RESIZING", JobState::running},
    {"STOPPED", JobState::running},
    {"COMPLETED", JobState::completed},
    {"FAILED", JobState::failed},
    {"LAUNCH_FAILED", JobState::failed},
    {"CANCELLED", JobState::cancelled},
    {"PREEMPTED", JobState::cancelled},
    {"REVOKED", JobState::cancelled},
    {"TIMEOUT", JobState::timed_out},
    {"DEADLINE", JobState::timed_out},
    {"NODE_FAIL", JobState::node_failed},
    {"BOOT_FAIL", JobState::node_failed},
    {"RECONFIG_FAIL", JobState::node_failed},
    {"OUT_OF_MEMORY", JobState::out_of_memory},
};

// By the state's word; the end of a job explains itself before its reason does.
constexpr std::pair<Phrase, Phrase> kEnds[] = {
    {"PREEMPTED",
     "a job of higher priority took its nodes; with `requeue: true` in ddlrun.yaml it would start again"},
    {"DEADLINE", "its --deadline passed before it could end"},
    {"TIMEOUT",
     "its walltime was used up; request more (--walltime), or let it save and go on (--signal, --requeue)"},
    {"OUT_OF_MEMORY",
     "its processes used more memory than the job had; request more (--memory), or take fewer ranks per "
     "node"},
    {"NODE_FAIL", "a node of it went away; submit again, and inform the administrators which: sinfo -R"},
    {"BOOT_FAIL", "a node did not come up for it; submit again, and inform the administrators: sinfo -R"},
    {"REVOKED", "another cluster of the federation runs it"},
    {"SUSPENDED", "stopped for a while by the scheduler or an administrator; it goes on by itself"},
    {"SPECIAL_EXIT", "it asked to be held after its end: scontrol release ID starts it again"},
};

// By the reason's beginning; the first that fits.
constexpr std::pair<Phrase, Phrase> kReasons[] = {
    {"None", ""},
    {"NonZeroExitCode", ""},
    {"RaisedSignal", ""},
    {"TimeLimit", ""},
    {"OutOfMemory", ""},
    {"Priority", "it waits its turn: other jobs are ahead of it (sprio -j ID, squeue --start -j ID)"},
    {"Resources", "it waits for nodes to become free (squeue --start -j ID)"},
    {"PartitionNodeLimit",
     "it requests more (or fewer) nodes than its partition has or allows, and would wait forever"},
    {"PartitionTimeLimit", "its walltime is above the limit of the partition, and it would wait forever"},
    {"PartitionDown", "its partition accepts jobs but starts none now: sinfo -s"},
    {"PartitionInactive", "its partition neither accepts nor starts jobs now: sinfo -s"},
    {"PartitionConfig",
     "its partition as it stands does not permit what it requests (walltime, or number, cores, memory or "
     "features "
     "of nodes), and it would wait forever"},
    {"ReqNodeNotAvail",
     "nodes that it needs are down, drained or reserved, or a maintenance begins before its walltime would "
     "end: "
     "sinfo -R, scontrol show reservation; a shorter walltime may fit in before it"},
    {"NodeDown", "a node that it needs is down: sinfo -R"},
    {"Nodes required for job are DOWN, DRAINED",
     "the nodes that it needs are down, drained or kept for other partitions: sinfo -R"},
    {"Nodes_required_for_job_are_DOWN",
     "the nodes that it needs are down, drained or kept for other partitions: sinfo -R"},
    {"DependencyNeverSatisfied", "the job it depends on did not end as asked, so it will never start"},
    {"Dependency", "it starts when the job it depends on has ended as asked"},
    {"BadConstraints", "no node can ever be what it requests (cores, memory, GPUs, features together)"},
    {"JobHeldUser", "held by its owner: scontrol release ID"},
    {"JobHeldAdmin", "held by an administrator, or by priority 0; only they can release it"},
    {"launch failed requeued held",
     "it could not be started on its node (prolog, directory, credentials) and was put back: ask for the "
     "reason "
     "(scontrol show job ID), then scontrol release ID"},
    {"launch_failed_requeued_held",
     "it could not be started on its node (prolog, directory, credentials) and was put back: ask for the "
     "reason "
     "(scontrol show job ID), then scontrol release ID"},
    {"job requeued in held state", "it was put back and held: scontrol release ID"},
    {"job_requeued_in_held_state", "it was put back and held: scontrol release ID"},
    {"BeginTime", "it may not start yet: its begin time is in the future, or it was put back a moment ago"},
    {"Licenses", "it waits for a licence: scontrol show licenses"},
    {"Reservation", "it waits for its reservation to begin: scontrol show reservation"},
    {"MaxMemPerLimit", "it requests more memory for a core or node than the partition allows"},
    {"InvalidAccount", "its account is not valid (any more): sacctmgr show assoc user=$USER"},
    {"InvalidQOS",
     "its QOS is not valid for this account: sacctmgr show assoc user=$USER format=account,qos"},
    {"AccountNotAllowed", "its partition does not take this account: scontrol show partition"},
    {"QOSNotAllowed", "its partition or account does not take this QOS: scontrol show partition"},
    {"AssocMaxJobsLimit", "its account has as many jobs running as it may; it waits for one of them"},
    {"AssocMaxWallDurationPerJobLimit",
     "its walltime is above the limit of its account, and it would wait forever"},
    {"AssocGrpCPUMinutesLimit", "the account's CPU time is used up: sshare -l, or another --account"},
    {"AssocGrpGRES", "the account has as many GPUs in use as it may; it waits for one of its jobs"},
    {"AssocGrp",
     "the account and those who share it have used what they may have at once, or in all: sshare -l"},
    {"AssocMax", "it requests more than one job of this account may have: sacctmgr show assoc user=$USER"},
    {"Assoc", "a limit of the account: sacctmgr show assoc user=$USER"},
    {"QOSMaxJobsPerUserLimit", "as many of your jobs run as this QOS allows; it waits for one of them"},
    {"QOSMaxWallDurationPerJobLimit",
     "its walltime is above the limit of its QOS, and it would wait forever"},
    {"QOSGrp", "all jobs of this QOS together have what they may have; it waits for one of them"},
    {"QOSMax", "it requests more, or you have more at once, than this QOS allows: sacctmgr show qos"},
    {"QOSMin", "it requests less than this QOS requires: sacctmgr show qos"},
    {"QOS", "a limit of the QOS: sacctmgr show qos"},
    {"MaxGRESPerAccount", "the account has as many GPUs in use as it may; it waits for one of its jobs"},
    {"JobArrayTaskLimit", "as many tasks of the array run as its %N allows"},
    {"Prolog", "the node is prepared for it"},
    {"Cleaning", "its last run is being cleaned up"},
    {"SystemFailure",
     "Slurm, the file system or the network failed: submit again, and inform the administrators"},
    {"JobLaunchFailure",
     "Slurm could not start it: its directory or output file may not exist on the node, or the program is "
     "not "
     "there"},
    {"InactiveLimit", "it was idle for longer than the site allows"},
    {"FedJobLock", "another cluster of the federation is asked first"},
    {"BurstBuffer", "its burst buffer is being filled or emptied"},
};

// Reasons that no passing of time takes away, and what to ask for instead.
constexpr std::pair<Phrase, Phrase> kNever[] = {
    {"PartitionTimeLimit", "a shorter --walltime, or another --queue: sinfo -o '%P %l'"},
    {"PartitionNodeLimit", "another number of nodes, or another --queue: sinfo -o '%P %D'"},
    {"PartitionConfig",
     "a shorter --walltime, fewer nodes, less per node, or another --queue: sinfo -o '%P %l %D %c %m %G %f'"},
    {"BadConstraints",
     "less per node, another --constraint or another --queue: sinfo -o '%P %D %c %m %G %f'"},
    {"DependencyNeverSatisfied", "the other job once more, then this one with new --dependencies"},
    {"AssocMaxWallDurationPerJobLimit",
     "a shorter --walltime, or another --account: sacctmgr show assoc user=$USER"},
    {"QOSMaxWallDurationPerJobLimit", "a shorter --walltime, or another --qos: sacctmgr show qos"},
    {"QOSMin", "a larger job, or another --qos: sacctmgr show qos"},
    {"MaxMemPerLimit", "less --memory, or another --queue: scontrol show partition"},
    {"InvalidAccount", "another --account: sacctmgr show assoc user=$USER"},
    {"AccountNotAllowed", "another --account or --queue: scontrol show partition"},
    {"InvalidQOS", "another --qos: sacctmgr show assoc user=$USER format=account,qos"},
    {"QOSNotAllowed", "another --qos or --queue: scontrol show partition"},
};
// "AssocMaxCpuPerJobLimit": one job alone is above the limit.
constexpr Phrase kPerJob = "PerJob";

constexpr Phrase kEndReasons[] = {"NonZeroExitCode",  "RaisedSignal",  "TimeLimit",     "OutOfMemory",
                                  "JobLaunchFailure", "SystemFailure", "InactiveLimit", "DeadLine",
                                  "NodeFail",         "Prolog"};

constexpr Phrase kAskSinfo = "sinfo -s; then --queue NAME";
constexpr KnownError kSlurmRefusals[] = {
    {0, "Socket timed out", "the controller is too busy to answer in time",
     "ddlrun status, before you submit again: it may have taken the job", true},
    {0, "Unable to contact slurm controller", "no answer at the controller's address",
     "scontrol ping; try again in some minutes, jobs that run go on meanwhile", true},
    {0, "Slurm backup controller in standby",
     "only the backup controller answers, and it is not in charge yet",
     "scontrol ping; try again in some minutes", true},
    {0, "Zero Bytes were transmitted", "the controller broke off", "scontrol ping; try again in some minutes",
     true},
    {0, "authentication", "the controller and this host do not trust each other's keys",
     "systemctl status munge; inform the administrators that munge fails on this host", true},
    {0, "Munge", "the authentication service does not answer on this host",
     "systemctl status munge; inform the administrators that munge fails on this host", true},
    {0, "Could not establish a configuration source", "this host has no Slurm configuration",
     "log in to a login node of the cluster, or set SLURM_CONF", true},
    {0, "Connection refused", "no answer at the controller's address", "scontrol ping", true},
    {0, "nvalid partition", "there is no such partition", kAskSinfo},
    {0, "Requested node configuration is not available",
     "no node has what one node of this job needs (cores, memory, GPUs or features), or there are fewer "
     "nodes than it "
     "requests",
     "sinfo -o '%P %D %c %m %G %f'; then request less per node, or fewer nodes"},
    {0, "Node count specification invalid", "the partition does not allow that many (or few) nodes",
     "scontrol show partition"},
    {0, "More processors requested than permitted", "one node, or the partition, has fewer cores",
     "sinfo -o '%P %D %c'; then request less per node"},
    {0, "Requested time limit is invalid", "the walltime is above the partition's limit",
     "sinfo -o '%P %l'; then --walltime below it"},
    {0, "Time limit specification required", "this site requires a walltime", "--walltime 04:00:00"},
    {0, "nvalid account or account/partition",
     "the account may not use this partition, or there is none of that name",
     "sacctmgr show assoc user=$USER format=account,partition,qos; then --account NAME"},
    {0, "nvalid account", "there is no such account, or you are not in it",
     "sacctmgr show assoc user=$USER format=account; then --account NAME"},
    {0, "nvalid qos", "there is no such QOS, or the account may not use it",
     "sacctmgr show assoc user=$USER format=account,qos; then --qos NAME"},
    {0, "violates accounting/QOS policy",
     "a limit of the account, the QOS or you: jobs at once, size or walltime",
     "sacctmgr show assoc user=$USER; sacctmgr show qos; squeue --me"},
    {0, "User's group not permitted", "the partition is for other groups", kAskSinfo},
    {0, "Access/permission denied", "you may not do that here", kAskSinfo},
    {0, "nvalid reservation", "there is no such reservation now", "scontrol show reservation"},
    {0, "Requested reservation is invalid", "there is no such reservation now", "scontrol show reservation"},
    {0, "nvalid feature", "no node has this feature", "sinfo -o '%N %f'; then --constraint"},
    {0, "nvalid generic resource", "the site has no resource of this name",
     "sinfo -o '%N %G'; then --gpus-per-node, --gpu-type"},
    {0, "nvalid gres", "the site has no resource of this name", "sinfo -o '%N %G'"},
    {0, "emory specification can not be satisfied", "one node has less memory",
     "sinfo -o '%P %m' (MiB); then --memory below it"},
    {0, "nvalid node name", "a host of that name is not in this cluster", "sinfo -N; then --hosts"},
    {0, "ob dependency problem", "the job it shall depend on is unknown, or already over", "ddlrun status"},
    {0, "nvalid job array", "the array's range is not allowed (scontrol show config: MaxArraySize)",
     "--array with a smaller range"},
    {0, "nvalid directive found in batch script", "sbatch does not support a #SBATCH line",
     "ddlrun lint-script FILE"},
    {0, "DOS line breaks", "the script has Windows line ends", "sed -i 's/\\r$//' FILE"},
    {0, "does not look like a batch script", "the script's first line names no shell",
     "ddlrun lint-script FILE: the first line must be #!/bin/bash"},
    {0, "does not contain a valid", "the script's first line names no shell", "ddlrun lint-script FILE"},
    {0, "nrecognized option", "this version of sbatch does not support a #SBATCH line",
     "ddlrun lint-script FILE; sbatch --version"},
    {0, "nvalid --", "an option's value is malformed", "ddlrun lint-script FILE"},
    {0, "nvalid time limit specification", "the walltime is malformed", "--walltime 04:00:00"},
    {0, "Unable to open file", "sbatch cannot read the script", "ls -l FILE"},
    {0, "Job submit rejected", "the site's own rules refused it",
     "its own message gives the reason; ask the site's help desk"},
    {0, "Unspecified error", "the site's own rules (a job_submit plug-in) refused it without a reason",
     "ask the site's help desk; often an account, a walltime or --comment is missing"},
};

bool begins(Phrase text, Phrase with) { return text.substr(0, with.size()) == with; }

// "CANCELLED by 2000", "CANCELLED+" -> "CANCELLED"
Phrase first_word(Phrase word) { return word.substr(0, word.find_first_of(" +")); }

}  // namespace

JobState slurm_state(Phrase word, Phrase reason) {
  const Phrase first = first_word(word);
  for (const auto& [name, state] : kStates) {
    if (name != first) continue;
    const bool held = begins(reason, "JobHeld") || reason.find("held") != Phrase::npos;
    return state == JobState::queued && held ? JobState::held : state;
  }
  return JobState::running;
}

std::string explain_slurm(JobState state, Phrase word, Phrase reason) {
  const Phrase first = first_word(word);
  if (first == "CANCELLED" && word.size() > first.size() + 4)
    return "cancelled by the user with the number" + std::string(word.substr(first.size() + 3)) + " (id -nu)";
  for (const auto& [name, text] : kEnds)
    if (name == first) return std::string(text);
  const bool known = std::any_of(std::begin(kStates), std::end(kStates),
                                 [&](const auto& row) { return row.first == first; });
  if (!known) return "a state unknown to this ddlrun; it is not taken for an end";
  if (state == JobState::completed || state == JobState::cancelled || state == JobState::running) return "";
  for (const auto& [name, text] : kReasons)
    if (begins(reason, name)) return std::string(text);
  return "";
}

Phrase slurm_never_remedy(Phrase reason) {
  for (const auto& [name, remedy] : kNever)
    if (begins(reason, name)) return remedy;
  const bool one_job = reason.find(kPerJob) != Phrase::npos;
  if (one_job && begins(reason, "AssocMax"))
    return "a smaller job, or another --account: sacctmgr show assoc user=$USER";
  if (one_job && begins(reason, "QOSMax")) return "a smaller job, or another --qos: sacctmgr show qos";
  return "";
}

bool is_slurm_end_reason(Phrase reason) {
  return std::any_of(std::begin(kEndReasons), std::end(kEndReasons),
                     [&](Phrase name) { return begins(reason, name); });
}

std::span<const KnownError> slurm_refusals() { return kSlurmRefusals; }

}  // namespace ddlrun::schedulers
