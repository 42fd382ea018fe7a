#!/usr/bin/env bash
# harness.sh CC: what the tests stand on - the sanitizers' wrapper, the counting of results, the shell protocol.
folder=$(realpath "$(dirname "$0")")
. "$folder/tap.sh"
cc=$1
cd "$tmp" || exit 1

# ---- checked: a program that ends well but leaks, or that goes on after undefined behaviour, must not pass

cat >faults.c <<'C'
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    volatile int big = 2147483647;
    volatile char *p = malloc(8);
    if (argc > 1 && !strcmp(argv[1], "leak"))
        p = NULL;
    else if (argc > 1 && !strcmp(argv[1], "overflow"))
        big++;
    else if (argc > 1 && !strcmp(argv[1], "write"))
        p[8] = 1;
    free((void *)p);
    return 0;
}
C
trap=-fsanitize-undefined-trap-on-error
if "$cc" -g -O0 -fsanitize=address,undefined faults.c -o telling 2>/dev/null &&
  "$cc" -g -O0 -fsanitize=address,undefined $trap faults.c -o trapping; then
  for program in telling trapping; do
    expect 0 "checked: a clean program ($program)" "$folder/checked" ./$program
    for fault in leak overflow write; do
      name="checked: $fault ($program)"
      run "$folder/checked" bash -c "./$program $fault || true"
      if [ "$status" = 99 ] && grep -q 'faults\.c:' "$err"; then pass "$name"; else fail "$name" "exit status $status"; fi
    done
  done
  expect 7 "checked: the program's own status" "$folder/checked" bash -c 'exit 7'
else
  skip "checked" "no sanitizers here"
fi

# ---- count.awk: every way in which meson tells of a failure counts as one

cat >log.xml <<'X'
<?xml version='1.0' encoding='utf-8'?>
<testsuites tests="7" errors="1" failures="1"><testsuite name="posbench.a f32" tests="3"><testcase name="1 - x::good &lt;1&gt;" classname="posbench.a f32" /><testcase name="2 - x::skipped" classname="posbench.a f32"><skipped /></testcase><testcase name="3 - x::bad" classname="posbench.a f32"><failure /><system-out>why</system-out></testcase><system-out>not ok 9 - &lt;testcase name="no"&gt;
</system-out></testsuite><testsuite name="posbench.b" tests="1"><testcase name="1 - y::good" classname="posbench.b" /></testsuite><testsuite name="posbench" tests="2"><testcase name="plain" classname="posbench" /><testcase name="crash" classname="posbench"><error /></testcase></testsuite></testsuites>
X
cat >log.json <<'J'
{"name": "a f32", "stdout": "", "result": "FAIL", "starttime": 1.0, "duration": 0.1, "returncode": 1}
{"name": "b", "stdout": "\", \"result\": \"OK\", ", "result": "TIMEOUT", "starttime": 1.0, "duration": 0.1, "returncode": -15}
{"name": "plain", "stdout": "", "result": "OK", "starttime": 1.0, "duration": 0.1, "returncode": 0}
{"name": "crash", "stdout": "", "result": "ERROR", "starttime": 1.0, "duration": 0.1, "returncode": -11}
J
cat >wanted <<'W'
passed here: a f32: 1 - x::good <1>
skipped here: a f32: 2 - x::skipped
failed here: a f32: 3 - x::bad
passed here: b: 1 - y::good
passed here: plain
failed here: crash
failed here: b: TIMEOUT
W
awk -v build=here -f "$folder/count.awk" RS='<' log.xml RS='\n' log.json >counted 2>"$err"
same "count.awk counts" wanted counted

# ---- tap.sh: a test that fails makes its script fail

printf '. %s\nexpect 0 "a" true\nexpect 0 "b" false\ndone_testing\n' "$folder/tap.sh" >fails.sh
run bash fails.sh
if [ "$status" = 1 ] && grep -q '^ok 1 - a' "$out" && grep -q '^not ok 2 - b' "$out"; then pass "tap.sh tells failures"; else
  fail "tap.sh tells failures"
fi
printf '. %s\ndone_testing\n' "$folder/tap.sh" >empty.sh
expect 1 "a script without tests fails" bash empty.sh

done_testing
