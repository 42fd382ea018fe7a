/* Claims: one winner, whoever dies. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "claim.h"
#include "sweep_fixture.h"

static char base[64], folder_path[128], claim_file[256];
static claims mine;

static void claim_test_open(void)
{
    error e = ERROR_INIT;
    strcpy(base, "/tmp/posbench-claim-XXXXXX");
    cr_assert_not_null(mkdtemp(base));
    snprintf(folder_path, sizeof folder_path, "%s/.claims", base);
    snprintf(claim_file, sizeof claim_file, "%s/key", folder_path);
    cr_assert_eq(claims_open(&mine, folder_path, &e), 0);
}

static void claim_test_close(void)
{
    unlink(claim_file);
    rmdir(folder_path);
    cr_expect_eq(rmdir(base), 0, "something was left behind");
}

TestSuite(claim, .init = claim_test_open, .fini = claim_test_close, .timeout = 30);

/* The text of a claim of this machine by another process. */
static void write_claim(long pid, unsigned long long start, const char *machine)
{
    char here[160], text[512];
    sscanf(mine.self, "posbench-claim/1\nmachine %159s\n", here);
    snprintf(text, sizeof text, "posbench-claim/1\nmachine %s\npid %ld\nstart %llu\nhost other\nsince then\n",
             machine ? machine : here, pid, start);
    mkdir(folder_path, 0777);
    fixture_write(claim_file, text, strlen(text));
}

static void make_old(double seconds)
{
    struct timespec past[2] = {{time(NULL) - (time_t)seconds, 0}, {time(NULL) - (time_t)seconds, 0}};
    cr_assert_eq(utimensat(AT_FDCWD, claim_file, past, 0), 0);
}

static pid_t dead_pid(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

static int take(void)
{
    error e = ERROR_INIT;
    int got = claim_take(&mine, "key", &e);
    cr_expect_eq(e.kind, ERROR_NONE, "%s", e.message);
    return got;
}

Test(claim, is_taken_refreshed_and_given_back)
{
    error e = ERROR_INIT;
    struct stat s;
    cr_expect_eq(take(), 1);
    cr_expect(claim_is_live(&mine, "key"));
    make_old(1000);
    cr_expect_eq(claim_refresh(&mine, "key", &e), 1);
    cr_assert_eq(stat(claim_file, &s), 0);
    cr_expect_lt(time(NULL) - s.st_mtime, 10);
    claim_release(&mine, "key");
    cr_expect(!claim_exists(&mine, "key"));
    claims_close(&mine);
    cr_expect(!fixture_exists(folder_path));
}

Test(claim, of_a_living_process_is_respected_however_old)
{
    write_claim(getppid(), claim_process_start(getppid()), NULL);
    make_old(1e6);
    cr_expect_eq(take(), 0);
    claim_release(&mine, "key"); /* not ours: stays */
    cr_expect(claim_exists(&mine, "key"));
}

Test(claim, of_a_dead_process_is_taken_over_at_once)
{
    write_claim(dead_pid(), 12345, NULL);
    cr_expect(!claim_is_live(&mine, "key"));
    cr_expect_eq(take(), 1);
    cr_expect(claim_is_live(&mine, "key"));
}

Test(claim, of_a_reused_process_number_is_taken_over)
{
    write_claim(getppid(), claim_process_start(getppid()) - 1, NULL);
    cr_expect_eq(take(), 1);
}

/* Killed, but not yet waited for by its parent: it will never work again. */
Test(claim, of_a_zombie_is_taken_over)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    write_claim(pid, claim_process_start(pid), NULL);
    cr_expect_eq(take(), 0);
    kill(pid, SIGSTOP);
    cr_expect_eq(take(), 0, "a stopped process is alive");
    kill(pid, SIGKILL);
    siginfo_t info;
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    cr_expect_eq(take(), 1);
    waitpid(pid, NULL, 0);
}

Test(claim, of_another_machine_lives_by_its_heartbeat)
{
    write_claim(1, 1, "another/machine");
    cr_expect_eq(take(), 0);
    make_old(CLAIM_STALE_SECONDS - 20);
    cr_expect_eq(take(), 0);
    make_old(CLAIM_STALE_SECONDS + 20);
    cr_expect_eq(take(), 1);
}

Test(claim, that_is_empty_lives_by_its_age)
{
    mkdir(folder_path, 0777);
    fixture_write(claim_file, "", 0);
    cr_expect_eq(take(), 0);
    make_old(CLAIM_STALE_SECONDS + 20);
    cr_expect_eq(take(), 1);
}

Test(claim, that_was_taken_over_is_noticed)
{
    error e = ERROR_INIT;
    cr_expect_eq(take(), 1);
    write_claim(getppid(), claim_process_start(getppid()), NULL);
    cr_expect_eq(claim_refresh(&mine, "key", &e), 0);
    claim_release(&mine, "key");
    cr_expect(claim_exists(&mine, "key"));
    unlink(claim_file); /* somebody tidied up */
    cr_expect_eq(claim_refresh(&mine, "key", &e), 1);
    cr_expect(claim_exists(&mine, "key"));
}

Test(claim, survives_a_take_over_that_died_half_way)
{
    char over[sizeof claim_file + 8];
    write_claim(dead_pid(), 1, NULL);
    snprintf(over, sizeof over, "%s.over", claim_file);
    cr_assert_eq(rename(claim_file, over), 0);
    write_claim(dead_pid(), 1, NULL);
    cr_expect_eq(take(), 1);
    cr_expect(!fixture_exists(over));
}

/* What the racers share. */
typedef struct race {
    atomic_int holders, wins, faults;
} race;

/* Leaves a dead claim of another machine in place of one's own, in one step. */
static void race_die(int racer)
{
    char temporary[sizeof claim_file + 16];
    static const char text[] = "posbench-claim/1\nmachine another/one\npid 1\nstart 1\n";
    struct timespec past[2] = {{1000000000, 0}, {1000000000, 0}};
    snprintf(temporary, sizeof temporary, "%s.dead%d", claim_file, racer);
    fixture_write(temporary, text, strlen(text));
    utimensat(AT_FDCWD, temporary, past, 0);
    rename(temporary, claim_file);
}

/* Takes the claim again and again; whoever has it must have it alone. Now it gives it back, now it leaves it dead. */
static void race_run(race *r, int racer, int wins)
{
    claims own;
    error e = ERROR_INIT;
    if (claims_open(&own, folder_path, &e) < 0)
        r->faults++;
    while (r->wins < wins && r->faults == 0) {
        int got = claim_take(&own, "key", &e);
        if (got < 0)
            r->faults++;
        if (got != 1) {
            sched_yield();
            continue;
        }
        if (r->holders++ != 0)
            r->faults++;
        r->wins++;
        sched_yield();
        r->holders--;
        if (r->wins % 4 == 0)
            claim_release(&own, "key");
        else
            race_die(racer);
    }
}

/* Six processes, hundreds of takings, most of them of a claim that all find dead at the same time. */
Test(claim, has_one_holder)
{
    enum { RACERS = 6, WINS = 600 };
    pid_t pid[RACERS];
    race *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(r, MAP_FAILED);
    for (int i = 0; i < RACERS; i++) {
        pid[i] = fork();
        if (pid[i] != 0)
            continue;
        race_run(r, i, WINS);
        _exit(0);
    }
    for (int i = 0; i < RACERS; i++)
        cr_expect_eq(fixture_wait(pid[i]), 0);
    cr_expect_eq(r->faults, 0);
    cr_expect_geq(r->wins, WINS);
}
