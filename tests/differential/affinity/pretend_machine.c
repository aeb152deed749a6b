// SPDX-License-Identifier: MIT
/* A preloaded shim that pretends a machine, so that real OpenMP runtimes lay out threads for it:
 *   PRETEND_MACHINE=1x68x4        packages x cores x threads; processor p is thread p / cores of core p %
 * cores, as Linux numbers them PRETEND_MASK=0-3,68-71        what the process may use; default: all Answers
 * affinity calls, sysconf, /proc/cpuinfo (LLVM's runtime, with KMP_TOPOLOGY_METHOD=cpuinfo) and the files
 * below /sys/devices/system/cpu that libgomp reads. A thread keeps the mask it was given, or that of the
 * thread that made it; nothing is really bound. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { mask_bytes = 1024, most_attributes = 64, most_text = 1 << 20 };
typedef struct {
  unsigned char bits[mask_bytes];
} Mask;

static int packages = 1, cores = 1, threads = 1; /* cores of the whole machine */
static Mask process_mask;
static __thread Mask own_mask;
static __thread int has_own_mask;

/* The runtime's constructor may run before any of ours. */
static void read_settings(void);
static int processor_count(void) {
  static int ready;
  if (!ready) {
    ready = 1;
    read_settings();
  }
  return cores * threads;
}

static void set_bit(Mask *mask, int at) { mask->bits[at / 8] |= (unsigned char)(1u << (at % 8)); }

static void read_settings(void) {
  const char *machine = getenv("PRETEND_MACHINE"), *text = getenv("PRETEND_MASK");
  int in_package = 1, used = 0;
  if (!machine || sscanf(machine, "%dx%dx%d%n", &packages, &in_package, &threads, &used) != 3 ||
      machine[used]) {
    fprintf(stderr, "pretend_machine: PRETEND_MACHINE is not PACKAGESxCORESxTHREADS\n");
    _exit(70);
  }
  cores = packages * in_package;
  if (processor_count() > mask_bytes * 8) _exit(70);
  if (!text)
    for (int i = 0; i < processor_count(); i++) set_bit(&process_mask, i);
  while (text && *text) {
    char *end;
    long first = strtol(text, &end, 10), last = first;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    for (long i = first; i <= last && i < processor_count(); i++) set_bit(&process_mask, (int)i);
    text = *end == ',' ? end + 1 : "";
  }
}

static const Mask *current_mask(void) {
  (void)processor_count();
  return has_own_mask ? &own_mask : &process_mask;
}

static long get_mask(size_t size, void *out) {
  const size_t needed = (size_t)(processor_count() + 63) / 64 * 8;
  if (size < needed) return errno = EINVAL, -1;
  memset(out, 0, size);
  memcpy(out, current_mask(), size < mask_bytes ? size : mask_bytes);
  return (long)needed;
}

static void keep_mask(size_t size, const void *in, Mask *mask) {
  memset(mask, 0, sizeof *mask);
  memcpy(mask, in, size < mask_bytes ? size : mask_bytes);
}

static long set_mask(size_t size, const void *in) {
  Mask wanted;
  int any = 0;
  keep_mask(size, in, &wanted);
  for (int i = 0; i < processor_count(); i++) any |= wanted.bits[i / 8] >> (i % 8) & 1;
  if (!any) return errno = EINVAL, -1;
  own_mask = wanted;
  has_own_mask = 1;
  return 0;
}

/* LLVM's runtime asks by the system call, and first with a null pointer. */
long syscall(long number, ...) {
  static long (*real)(long, ...);
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_sched_getaffinity || number == SYS_sched_setaffinity) {
    if (!a[2]) return errno = EFAULT, -1;
    return number == SYS_sched_getaffinity ? get_mask((size_t)a[1], (void *)a[2])
                                           : set_mask((size_t)a[1], (const void *)a[2]);
  }
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out) {
  (void)pid;
  return get_mask(size, out) < 0 ? -1 : 0;
}
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *in) {
  (void)pid;
  return (int)set_mask(size, in);
}
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *out) {
  (void)thread;
  return get_mask(size, out) < 0 ? EINVAL : 0;
}
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *in) {
  (void)thread;
  return set_mask(size, in) < 0 ? EINVAL : 0;
}

/* libgomp gives a new thread its place by attribute; glibc would hand it to the kernel itself. */
static struct {
  const pthread_attr_t *attribute;
  Mask mask;
} kept[most_attributes];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

int pthread_attr_setaffinity_np(pthread_attr_t *attribute, size_t size, const cpu_set_t *in) {
  int at = 0, result = ENOMEM;
  pthread_mutex_lock(&kept_lock);
  while (at < most_attributes && kept[at].attribute && kept[at].attribute != attribute) at++;
  if (at < most_attributes) {
    kept[at].attribute = attribute;
    keep_mask(size, in, &kept[at].mask);
    result = 0;
  }
  pthread_mutex_unlock(&kept_lock);
  return result;
}

typedef struct {
  void *(*run)(void *);
  void *argument;
  Mask mask;
} Start;

static void *start_thread(void *given) {
  Start start = *(Start *)given;
  free(given);
  own_mask = start.mask;
  has_own_mask = 1;
  return start.run(start.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attribute, void *(*run)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  Start *start = malloc(sizeof *start);
  if (!start) return EAGAIN;
  *start = (Start){run, argument, *current_mask()};
  pthread_mutex_lock(&kept_lock);
  for (int i = 0; attribute && i < most_attributes; i++)
    if (kept[i].attribute == attribute) start->mask = kept[i].mask;
  pthread_mutex_unlock(&kept_lock);
  if (!real)
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
                                                                                          "pthread_create");
  return real(thread, attribute, start_thread, start);
}

long sysconf(int name) {
  static long (*real)(int);
  if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN) return processor_count();
  if (!real) real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return real(name);
}

static size_t write_cpuinfo(char *text) {
  size_t used = 0;
  const int in_package = cores / packages;
  for (int p = 0; p < processor_count(); p++) {
    const int core = p % cores;
    used += (size_t)sprintf(text + used,
                            "processor\t: %d\nvendor_id\t: GenuineIntel\nphysical id\t: %d\nsiblings\t: %d\n"
                            "core id\t\t: %d\ncpu cores\t: %d\napicid\t\t: %d\n\n",
                            p, core / in_package, in_package * threads, core % in_package, in_package,
                            core * threads + p / cores);
  }
  return used;
}

static size_t write_siblings(char *text, int processor, int whole_package) {
  const int core = processor % cores, in_package = cores / packages;
  const int first = whole_package ? core / in_package * in_package : core;
  const int last = whole_package ? first + in_package - 1 : core;
  size_t used = 0;
  for (int t = 0; t < threads; t++)
    used += (size_t)sprintf(text + used, "%s%d-%d", t ? "," : "", first + t * cores, last + t * cores);
  return used + (size_t)sprintf(text + used, "\n");
}

/* What a pretended file holds; 0 for a real one, -1 for one that is not there. */
static long pretended(const char *path, char *text) {
  int processor = 0, used = 0;
  if (strcmp(path, "/proc/cpuinfo") == 0) return (long)write_cpuinfo(text);
  if (strncmp(path, "/sys/devices/system/cpu/", 24) != 0) return 0;
  if (sscanf(path + 24, "cpu%d/topology/%n", &processor, &used) != 1 || !used ||
      processor >= processor_count())
    return -1;
  if (strcmp(path + 24 + used, "core_siblings_list") == 0) return (long)write_siblings(text, processor, 1);
  if (strcmp(path + 24 + used, "thread_siblings_list") == 0) return (long)write_siblings(text, processor, 0);
  return -1;
}

static FILE *open_either(const char *path, const char *mode, const char *real_name) {
  char *text = malloc(most_text);
  FILE *file = NULL, *(*real)(const char *, const char *) =
                         (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, real_name);
  const long bytes = text ? pretended(path, text) : 0;
  if (bytes < 0) errno = ENOENT;
  if (bytes == 0) file = real(path, mode);
  if (bytes > 0 && (file = fmemopen(NULL, (size_t)bytes, "w+")) != NULL) {
    fwrite(text, 1, (size_t)bytes, file);
    rewind(file);
  }
  free(text);
  return file;
}
FILE *fopen(const char *path, const char *mode) { return open_either(path, mode, "fopen"); }
FILE *fopen64(const char *path, const char *mode) { return open_either(path, mode, "fopen64"); }
