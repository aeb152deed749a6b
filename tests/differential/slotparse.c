/* SPDX-License-Identifier: MIT
 * slotparse TOPOLOGY.xml < SLOTS: what Open MPI 4.1's own parser makes of the text after "slot=", one text a
 * line. Prints for each line "RC<tab>LIST", LIST being the OS numbers of the hardware threads ("0-3,8"), or
 * "crash<tab>" where the parser dies. The work is done in a child; when a text kills it, the next child goes on
 * behind that text. The functions live in libopen-pal; no header of them is installed, hence the declarations.
 */
#include <hwloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern hwloc_topology_t opal_hwloc_topology;
extern int opal_hwloc_base_cpu_list_parse(const char *, hwloc_topology_t, int, hwloc_cpuset_t);
extern int opal_init_util(int *, char ***);

enum { logical_numbers = 2, longest_list = 65536 };

struct texts {
    char **lines;
    size_t count;
};

static struct texts read_texts(FILE *in)
{
    struct texts texts = {NULL, 0};
    size_t room = 0, size = 0;
    char *line = NULL;
    while (getline(&line, &size, in) > 0) {
        if (texts.count == room) {
            room = room ? 2 * room : 1024;
            texts.lines = realloc(texts.lines, room * sizeof *texts.lines);
        }
        line[strcspn(line, "\n")] = '\0';
        texts.lines[texts.count++] = strdup(line);
    }
    free(line);
    return texts;
}

static void judge(const char *text)
{
    static char list[longest_list];
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    int rc = opal_hwloc_base_cpu_list_parse(text, opal_hwloc_topology, logical_numbers, set);
    list[0] = '\0';
    if (rc == 0)
        hwloc_bitmap_list_snprintf(list, sizeof list, set);
    printf("%d\t%s\n", rc, list);
    fflush(stdout);
    hwloc_bitmap_free(set);
}

/* Judges from `*next` on, in a child. Returns true if the child died of text `*next`. */
static bool judge_until_death(const struct texts *texts, volatile size_t *next)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        while (*next < texts->count) {
            judge(texts->lines[*next]);
            ++*next;
        }
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("slotparse");
        exit(2);
    }
    return WIFSIGNALED(status);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: slotparse TOPOLOGY.xml < SLOTS\n", stderr);
        return 2;
    }
    opal_init_util(&argc, &argv);
    signal(SIGSEGV, SIG_DFL); /* no stack traces: a crash is an answer here */
    signal(SIGABRT, SIG_DFL);
    hwloc_topology_t topology;
    hwloc_topology_init(&topology);
    if (hwloc_topology_set_xml(topology, argv[1]) != 0 || hwloc_topology_load(topology) != 0) {
        fprintf(stderr, "slotparse: cannot load %s\n", argv[1]);
        return 2;
    }
    opal_hwloc_topology = topology; /* the parser refuses to work while this is null */
    struct texts texts = read_texts(stdin);
    volatile size_t *next =
        mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *next = 0;
    while (*next < texts.count)
        if (judge_until_death(&texts, next)) {
            puts("crash\t");
            ++*next;
        }
    return 0;
}
