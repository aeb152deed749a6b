// SPDX-License-Identifier: MIT
#include "doctor/gather/libraries.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <algorithm>
#include <deque>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_libraries = 400;
constexpr std::size_t most_cache_bytes = 8u << 20;
constexpr int most_links = 32;

// The directories of a search path; an empty one means the working directory for the loader, and nothing to
// us.
std::vector<std::string> dirs_of(std::string_view path, const std::string& origin) {
  std::vector<std::string> dirs;
  for (const std::string_view word : split(path, ':')) {
    std::string dir(word);
    for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"}) {
      for (auto at = dir.find(name); at != std::string::npos; at = dir.find(name, at + origin.size()))
        dir.replace(at, name.size(), origin);
    }
    if (!dir.empty()) dirs.push_back(std::move(dir));
  }
  return dirs;
}

bool is_made_by_kernel(const std::string& name) {
  return name.starts_with("linux-vdso") || name.starts_with("linux-gate");
}

struct Asker {
  std::string name;   // "libmpi.so.40"
  std::string by;     // the path of the file that asks
  std::string rpath;  // of that file and, without RUNPATH, of those above it; $ORIGIN resolved
  std::string runpath;
};

class TreeWalk {
 public:
  TreeWalk(const GatherContext& context, LibraryTree& tree) : context_(context), tree_(tree) {
    library_path_ = dirs_of(job_variable(context, "LD_LIBRARY_PATH"), "");
  }

  void run(const std::string& path) {
    ask(path, tree_.top, "");
    while (!open_.empty() && tree_.found.size() < most_libraries) {
      const Asker asker = std::move(open_.front());
      open_.pop_front();
      if (!is_made_by_kernel(asker.name)) find(asker);
    }
  }

 private:
  void ask(const std::string& path, const ElfFile& elf, const std::string& inherited_rpath) {
    const std::string origin = directory_of(real_path(context_, path));
    const std::string own = elf.runpath.empty() ? join(dirs_of(elf.rpath, origin), ":") : "";
    const std::string rpath = own.empty() ? inherited_rpath : own + ":" + inherited_rpath;
    const std::string runpath = join(dirs_of(elf.runpath, origin), ":");
    for (const std::string& name : elf.needed) {
      if (asked_.insert({name, true}).second) {
        open_.push_back({name, path, elf.runpath.empty() ? rpath : std::string(), runpath});
      }
    }
  }

  void find(const Asker& asker) {
    if (asker.name.find('/') != std::string::npos) {
      if (!take(asker, asker.name)) tree_.missing.push_back({asker.name, asker.by});
      return;
    }
    std::vector<std::string> dirs = dirs_of(asker.rpath, "");
    dirs.insert(dirs.end(), library_path_.begin(), library_path_.end());
    for (const std::string& dir : dirs_of(asker.runpath, "")) dirs.push_back(dir);
    for (const std::string& dir : dirs) {
      if (take(asker, dir + "/" + asker.name)) return;
    }
    load_cache();
    const auto [first, last] = cache_.equal_range(asker.name);
    for (auto at = first; at != last; ++at) {
      if (take(asker, at->second)) return;
    }
    for (const char* dir : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
      if (take(asker, std::string(dir) + "/" + asker.name)) return;
    }
    tree_.missing.push_back({asker.name, asker.by});
  }

  // A file of another architecture is passed over, as the loader does.
  bool take(const Asker& asker, const std::string& path) {
    const auto elf = read_elf_file(context_, path);
    if (!elf || elf->machine != tree_.top.machine) return false;
    tree_.found[asker.name] = path;
    ask(path, *elf, asker.rpath);
    return true;
  }

  void load_cache() {
    if (cache_loaded_) return;
    cache_loaded_ = true;
    if (const auto bytes = read_small(context_, "/etc/ld.so.cache", most_cache_bytes))
      cache_ = parse_loader_cache(*bytes);
  }

  const GatherContext& context_;
  LibraryTree& tree_;
  std::vector<std::string> library_path_;
  std::deque<Asker> open_;
  std::map<std::string, bool> asked_;
  std::multimap<std::string, std::string> cache_;
  bool cache_loaded_ = false;
};

}  // namespace

std::optional<std::string> read_bytes(const GatherContext& context, const std::string& path,
                                      std::uint64_t offset, std::size_t bytes) {
  const std::string whole = context.root + path;
  if (auto part = context.kernel.read_part(whole, offset, bytes)) return part;
  if (!context.system.files.exists(whole)) return std::nullopt;
  const auto info = context.kernel.file_info(whole, true);
  if (!info || info->kind != FileInfo::Kind::file) return std::nullopt;
  try {
    const std::string all = context.system.files.read(whole, 64u << 20);
    return offset > all.size() ? std::string() : all.substr(offset, bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> read_small(const GatherContext& context, const std::string& path,
                                      std::size_t most_bytes) {
  try {
    return context.system.files.read(context.root + path, most_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<ElfFile> read_elf_file(const GatherContext& context, const std::string& path) {
  // Headers and dynamic sections are requested in small pieces; most lie in the first one.
  const auto start = read_bytes(context, path, 0, 4096);
  if (!start || !start->starts_with("\x7f"
                                    "ELF"))
    return std::nullopt;
  return read_elf([&](std::uint64_t offset, std::size_t bytes) -> std::optional<std::string> {
    if (offset <= start->size() && bytes <= start->size() - offset) return start->substr(offset, bytes);
    return read_bytes(context, path, offset, bytes);
  });
}

std::string job_variable(const GatherContext& context, const std::string& name) {
  const auto set = context.request.environment.find(name);
  return set != context.request.environment.end() ? set->second : context.system.environment.get(name);
}

std::string find_in_path(const GatherContext& context, const std::string& name) {
  const auto usable = [&](const std::string& path) {
    const auto info = context.kernel.file_info(context.root + path, true);
    return info && info->kind == FileInfo::Kind::file &&
           context.kernel.may_access(context.root + path, Access::execute);
  };
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) {
    if (name[0] == '/') return name;
    const std::string& dir = context.request.workdir;
    return dir.empty() ? name : dir + "/" + name;
  }
  const std::string path = job_variable(context, "PATH");
  for (const std::string_view dir : split(path, ':')) {
    if (dir.empty() || dir[0] != '/') continue;
    std::string candidate = std::string(dir) + "/" + name;
    if (usable(candidate)) return candidate;
  }
  return {};
}

std::string real_path(const GatherContext& context, std::string path) {
  std::string done;  // without links
  std::string rest = path;
  for (int links = 0; !rest.empty() && links <= most_links;) {
    const auto start = rest.find_first_not_of('/');
    if (start == std::string::npos) break;
    const auto slash = rest.find('/', start);
    const std::string part = rest.substr(start, slash - start);
    const std::string behind = slash == std::string::npos ? "" : rest.substr(slash);
    if (part == "." || part == "..") {
      if (part == "..") done = done.substr(0, done.rfind('/') == std::string::npos ? 0 : done.rfind('/'));
      rest = behind;
      continue;
    }
    const auto target = context.kernel.read_link(context.root + done + "/" + part);
    if (!target || target->empty()) {
      done += "/" + part;
      rest = behind;
      continue;
    }
    ++links;
    if ((*target)[0] == '/') done.clear();
    rest = *target + behind;
  }
  return done.empty() ? path : done;
}

LibraryTree find_libraries(const GatherContext& context, const std::string& path) {
  LibraryTree tree;
  const auto top = read_elf_file(context, path);
  if (!top) return tree;
  tree.is_elf = true;
  tree.top = *top;
  TreeWalk(context, tree).run(path);
  return tree;
}

std::multimap<std::string, std::string> parse_loader_cache(std::string_view bytes) {
  std::multimap<std::string, std::string> names;
  const auto start = bytes.find("glibc-ld.so.cache1.1");
  if (start == std::string_view::npos) return names;
  bytes.remove_prefix(start);  // offsets count from here
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  const auto text = [&](std::size_t at) {
    return at >= bytes.size() ? std::string_view() : bytes.substr(at, bytes.find('\0', at) - at);
  };
  constexpr std::size_t header = 48, entry = 24;
  if (bytes.size() < header) return names;
  const std::size_t count = std::min<std::size_t>(word(20), (bytes.size() - header) / entry);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = header + i * entry;
    const std::string_view name = text(word(at + 4)), path = text(word(at + 8));
    if (!name.empty() && !path.empty()) names.emplace(name, path);
  }
  return names;
}

}  // namespace ddlrun::doctor
