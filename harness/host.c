#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "build_info.h"
#include "gemm.h"
#include "level.h"
#include "record.h"

/* The name that Linux gives the first processor, or the machine's architecture where it gives none. */
static void host_cpu(char *out, size_t size)
{
    static const char key[] = "model name";
    char line[512];
    struct utsname u;
    snprintf(out, size, "%s", uname(&u) == 0 ? u.machine : "unknown");
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        break;
    }
    fclose(f);
}

void host_facts_read(host_facts *h)
{
    memset(h, 0, sizeof *h);
    h->version = POSBENCH_VERSION;
    h->compiler = POSBENCH_COMPILER;
    h->flags = POSBENCH_FLAGS;
    h->kernel = gemm_kernel();
    h->level = level_name(level_of_cpu());
    host_cpu(h->cpu, sizeof h->cpu);
    if (gethostname(h->host, sizeof h->host - 1) < 0)
        snprintf(h->host, sizeof h->host, "unknown");
    h->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
}
