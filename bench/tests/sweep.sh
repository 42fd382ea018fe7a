#!/usr/bin/env bash
# sweep.sh POSBENCH SOURCE: runs, sweeps, resuming, tables and reports, end to end.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") source=$2
cd "$source" || exit 1 # the smoke spec reads a text by a path from here
smoke=bench/specs/smoke.yaml
encodings=$(sed -n '/^PE_ENCODING(/p' encodings/list.h | wc -l)
all=$((6 * encodings)) # the smoke spec has every encoding on six tasks

# What may differ between two records of the same command; a record without it.
may_differ=(cost host)
facts_of() {
  grep -vE "^  \"($(IFS='|'; echo "${may_differ[*]}"))\": " "$1"
}

same_records() { # NAME FOLDER FOLDER
  local -a kept=()
  local key
  for key in "${may_differ[@]}"; do kept+=(-I "^  \"$key\": "); done
  if diff -r "${kept[@]}" "$2/runs" "$3/runs" >"$out" 2>"$err" && [ "$(count_records "$2")" -gt 0 ]; then
    pass "$1"
  else
    fail "$1"
  fi
}

count_records() {
  find "$1/runs" -maxdepth 1 -name '*.json' 2>/dev/null | wc -l
}

count_is() { # NAME FOLDER NUMBER
  if [ "$(count_records "$2")" = "$3" ]; then pass "$1"; else fail "$1" "$(count_records "$2") records, not $3"; fi
}

has_no() { # NAME FOLDER PATTERN: no file of such a name below
  if [ -z "$(find "$2" -name "$3")" ]; then pass "$1"; else fail "$1" "$(find "$2" -name "$3" | head -n 3)"; fi
}

# ---- one run

tiny=(run --encoding nope --task 'sort(symbols=32)' --set model.width=16 --set model.layers=1 --set model.heads=2
  --set train.batch=4 --set train.len=8 --set eval.items=8 --set 'eval.ratios=1;2')
long=("${tiny[@]}" --set train.steps=100000)
diverging=("${tiny[@]}" --set train.lr=1000 --set train.clip=0 --set train.steps=200)
tiny+=(--set train.steps=6)
expect 0 "a run without --out" "$posbench" "${tiny[@]}"
said "$out" "it shows a table" "exact_match"
said "$out" "it says that nothing was written" "Nothing was written"
expect 0 "a run with --out" "$posbench" "${tiny[@]}" --seed 3 --out "$tmp/first.json"
said "$out" "it says where the record is" "The record is $tmp/first.json"
if grep -q "$(printf '\r')" "$err"; then fail "no carriage returns in a log"; else pass "no carriage returns in a log"; fi
if grep -q "$(printf '\033')" "$err"; then fail "no escape codes in a log"; else pass "no escape codes in a log"; fi
if command -v script >/dev/null; then
  run env TERM=xterm script -qefc "$(printf '%q ' "$posbench" "${tiny[@]}")" "$tmp/typescript"
  if [ "$status" = 0 ] && grep -q "$(printf '\r\033')" "$tmp/typescript"; then pass "a live line on a terminal"; else
    fail "a live line on a terminal" "exit status $status"
  fi
else
  skip "a live line on a terminal" "no script(1) here"
fi
"$posbench" "${tiny[@]}" --seed 3 --out "$tmp/second.json" >/dev/null 2>&1
same "the same command gives the same record" <(facts_of "$tmp/first.json") <(facts_of "$tmp/second.json")
"$posbench" "${tiny[@]}" --seed 4 --out "$tmp/other.json" >/dev/null 2>&1
run cmp "$tmp/first.json" "$tmp/other.json"
if [ "$status" = 1 ]; then pass "another seed gives another record"; else fail "another seed gives another record"; fi
expect 1 "a run that diverges" "$posbench" "${diverging[@]}" --out "$tmp/diverged.json"
said "$out" "it says that and when it diverged" "diverged at step"
said "$tmp/diverged.json" "and records it" '"status": "diverged"'
run "$posbench" "${tiny[@]}" --out /dev/full
if [ "$status" = 3 ] && grep -q "No space left on device" "$err"; then pass "no room for the record"; else fail "no room for the record"; fi
refused 2 "--canonical says everything" "--canonical stands alone" "$posbench" run --canonical - --seed 2
run bash -c "printf 'format=1\nencoding=nope\ntask=sort(symbols=32)\ntrain.lrr=1\n' | '$posbench' run --canonical -"
if [ "$status" = 2 ] && grep -q "train.lr" "$err"; then pass "canonical text with a fault"; else fail "canonical text with a fault"; fi

# ---- a spec that is wrong: everything at once, with place and nearest name, and nothing starts

cat >"$tmp/wrong.yaml" <<'Y'
name: wrong
encoding: [nope, albi]
task: sort
train:
  learing_rate: 1e-3
  steps: 12a8
  steps: 20
modle: {width: 64}
Y
refused 2 "$tmp/wrong.yaml:2:" "a wrong spec: place of the encoding" "$posbench" sweep "$tmp/wrong.yaml" --out "$tmp/wrong"
said "$err" "a wrong spec: nearest encoding" "did you mean 'alibi'?"
said "$err" "a wrong spec: place of the key" "$tmp/wrong.yaml:5:"
said "$err" "a wrong spec: nearest key" "did you mean 'lr'?"
said "$err" "a wrong spec: not a number" "12a8"
said "$err" "a wrong spec: nearest section" "did you mean 'model'?"
said "$err" "a wrong spec: the key given twice" "$tmp/wrong.yaml:7:"
said "$err" "a wrong spec: the source line" "learing_rate: 1e-3"
if [ "$(head -c 9 "$err")" != "posbench:" ]; then pass "faults with a place begin at the margin"; else fail "faults with a place begin at the margin"; fi
if [ ! -e "$tmp/wrong" ]; then pass "a wrong spec starts nothing"; else fail "a wrong spec starts nothing"; fi
printf 'encoding: [nope, rope]\ntask: [sort(symbols=32), text(file=%s/none.txt)]\ntrain: {len: 8}\neval: {ratios: 1}\n' "$tmp" >"$tmp/no_text.yaml"
refused 3 "$tmp/none.txt" "a text that is not there" "$posbench" sweep "$tmp/no_text.yaml" --out "$tmp/no_text"
if [ ! -e "$tmp/no_text" ]; then pass "a text that is not there: nothing starts"; else
  fail "a text that is not there: nothing starts"
fi
refused 3 "$tmp/none.yaml" "a spec that is not there" "$posbench" sweep "$tmp/none.yaml"
refused 2 "train.lr" "--only on a misspelt key" "$posbench" sweep "$smoke" --only train.lrr=1 --out "$tmp/only"
refused 2 "sotr" "--only that matches nothing" "$posbench" sweep "$smoke" --only task=sotr --out "$tmp/only"

# ---- `all` leaves out what has no meaning in a network, and says so; a name is refused

odd='task: sort(symbols=32)
model: {width: 6, layers: 1, heads: 2}
train: {len: 8, steps: 2, batch: 2}
eval: {ratios: 1, items: 2}'
printf 'encoding: all\n%s\n' "$odd" >"$tmp/odd.yaml"
expect 0 "--dry-run of all" "$posbench" sweep "$tmp/odd.yaml" --out "$tmp/odd" --dry-run
said "$out" "--dry-run says what is left out" "left out, since it has no meaning in this network:"
said "$out" "and why" "  rope (1 run): rope: 3 of head_dim 3 would turn"
expect 0 "a sweep of all" "$posbench" sweep "$tmp/odd.yaml" --out "$tmp/odd" --jobs 2
said "$out" "it says what is left out" "  rope (1 run): "
left_out=$(grep -cE '^  [a-z0-9_]+ \(1 run\): ' "$out")
count_is "it does the others" "$tmp/odd" $((encodings - left_out))
printf 'encoding: [all, rope]\n%s\n' "$odd" >"$tmp/named.yaml"
refused 2 "$tmp/named.yaml:1:17: error: encoding: rope: 3 of head_dim 3" "a name beside all is refused" \
  "$posbench" sweep "$tmp/named.yaml" --out "$tmp/named"

# ---- the smoke specs have every task

few=bench/specs/smoke_tasks.yaml
mapfile -t tasks < <(sed -n 's/^TASK(\(.*\))$/\1/p' harness/task_list.h)
left=
for task in "${tasks[@]}"; do
  grep -qE "^  - $task(\(.*\))?$" "$smoke" "$few" || left+=" $task"
done
if [ ${#tasks[@]} -gt 6 ] && [ -z "$left" ]; then pass "every task is in a smoke spec"; else
  fail "every task is in a smoke spec" "${#tasks[@]} tasks; without a line:$left"
fi
# Causal and bidirectional; masked language modelling has the second only. One of the spec's two encodings: no task knows
# of them, and the other has its runs below.
few_tasks=$(sed -n '/^task:/,/^[a-z]*:.*[a-z]/p' "$few" | grep -c '^  - ')
few_masked=$(grep -c '^  - masked_text' "$few")
few_runs=$((2 * few_tasks - few_masked))
expect 0 "--dry-run of the smoke spec of tasks" "$posbench" sweep smoke_tasks --out "$tmp/few" --dry-run
said "$out" "it has two encodings" ": $((2 * few_runs)) runs"
expect 0 "the smoke spec of tasks" "$posbench" sweep smoke_tasks --only encoding=rope --out "$tmp/few" --jobs 2
count_is "every task has its records" "$tmp/few" "$few_runs"
run grep -LE '"status": "ok"' "$tmp"/few/runs/*.json
if [ ! -s "$out" ]; then pass "and all of them are well"; else fail "and all of them are well"; fi

# ---- a whole sweep

expect 0 "--dry-run" "$posbench" sweep "$smoke" --out "$tmp/all" --dry-run
said "$out" "--dry-run counts the runs" ": $all runs"
if [ ! -e "$tmp/all" ]; then pass "--dry-run makes nothing"; else fail "--dry-run makes nothing"; fi
expect 0 "the smoke spec" "$posbench" sweep smoke --out "$tmp/all" --jobs 2
said "$out" "it tells the next command" "posbench report $tmp/all"
count_is "every run has a record" "$tmp/all" "$all"
if grep -q "$(printf '[\r\033]')" "$err"; then fail "progress in a log is plain"; else pass "progress in a log is plain"; fi
if [ -s "$err" ]; then pass "progress goes to standard error"; else fail "progress goes to standard error"; fi
run head -n 1 "$tmp/all/runs.csv"
said "$out" "columns of runs.csv" "key,encoding,task,seed,train_len,eval_len,ratio,metric,mode,value,n,status,flag"
run head -n 1 "$tmp/all/summary.csv"
said "$out" "columns of summary.csv" \
  "encoding,task,train_len,eval_len,ratio,metric,mode,seeds,fitted,mean,sd,median,ci_low,ci_high,rank,mean_fitted,chance"
for table in curves comparisons; do
  if [ -s "$tmp/all/$table.csv" ]; then pass "$table.csv is there"; else fail "$table.csv is there"; fi
done
cp -r "$tmp/all" "$tmp/before"
expect 0 "a second sweep of the same" "$posbench" sweep "$smoke" --out "$tmp/all" --jobs 2
said "$out" "it finds everything done" "$all of $all runs were there, 0 done"
run diff -r "$tmp/all/runs" "$tmp/before/runs"
if [ "$status" = 0 ]; then pass "it touches no record"; else fail "it touches no record"; fi
rm -f "$tmp/all"/runs/[0-3][0-3]*.json "$tmp/all/runs.csv" "$tmp/all/summary.csv"
missing=$((all - $(count_records "$tmp/all")))
if [ $missing -gt 0 ]; then pass "records are missing"; else fail "records are missing"; fi
expect 0 "a sweep with records missing" "$posbench" sweep "$smoke" --out "$tmp/all" --jobs 2
said "$out" "only the missing are done" "$((all - missing)) of $all runs were there, $missing done"
same_records "and come out the same" "$tmp/all" "$tmp/before"
same "runs.csv is that of the whole" "$tmp/all/runs.csv" "$tmp/before/runs.csv"
same "summary.csv is that of the whole" "$tmp/all/summary.csv" "$tmp/before/summary.csv"
rm -f "$tmp/all"/*.csv
expect 0 "collect" "$posbench" collect "$tmp/all"
same "collect makes the same runs.csv" "$tmp/all/runs.csv" "$tmp/before/runs.csv"
same "collect makes the same summary.csv" "$tmp/all/summary.csv" "$tmp/before/summary.csv"
same "collect makes the same curves.csv" "$tmp/all/curves.csv" "$tmp/before/curves.csv"
same "collect makes the same comparisons.csv" "$tmp/all/comparisons.csv" "$tmp/before/comparisons.csv"
expect 0 "with one job" "$posbench" sweep "$smoke" --only encoding=shaw --out "$tmp/one" --jobs 1
expect 0 "with two jobs" "$posbench" sweep "$smoke" --only encoding=shaw --out "$tmp/two" --jobs 2
same_records "one and two jobs give the same records" "$tmp/one" "$tmp/two"
same "one and two jobs give the same runs.csv" "$tmp/one/runs.csv" "$tmp/two/runs.csv"
same "one and two jobs give the same summary.csv" "$tmp/one/summary.csv" "$tmp/two/summary.csv"
expect 0 "--only" "$posbench" sweep "$smoke" --only encoding=nope,task=repeat_copy --out "$tmp/only"
count_is "--only does a part" "$tmp/only" 1
for worker in 0/3 2/3 1/3; do
  expect 0 "--worker $worker" "$posbench" sweep "$smoke" --only encoding=nope --worker $worker --jobs 1 --out "$tmp/workers"
done
count_is "workers do it all" "$tmp/workers" 6

# ---- awkward paths

mkdir "$tmp/a b'c\"d \$(touch x) é"
cd "$tmp/a b'c\"d \$(touch x) é" || exit 1
expect 0 "an awkward folder" "$posbench" sweep "$source/$smoke" --only task=repeat_copy,encoding=nope --out=-o
count_is "its record is there" ./-o 1
expect 0 "report in an awkward folder" "$posbench" report ./-o
if [ ! -e x ]; then pass "no shell has seen the name"; else fail "no shell has seen the name"; fi
cd "$source" || exit 1

# ---- the report

expect 0 "report" "$posbench" report "$tmp/all" --format html,md,tex --plots svg
for file in report.html report.md report.tex; do
  if [ -s "$tmp/all/$file" ]; then pass "report writes $file"; else fail "report writes $file"; fi
done
run grep -E '(src|href)="(https?:)?//' "$tmp/all/report.html"
if [ "$status" = 1 ]; then pass "the page needs nothing from elsewhere"; else fail "the page needs nothing from elsewhere"; fi
if [ -n "$(find "$tmp/all" -name '*.svg')" ]; then pass "report draws"; else fail "report draws"; fi
has_no "no temporary file is left" "$tmp/all" '*.tmp*'
mkdir "$tmp/no-gnuplot"
run env PATH="$tmp/no-gnuplot" "$posbench" report "$tmp/only"
if [ "$status" = 3 ] && grep -q gnuplot "$err"; then pass "report without gnuplot says so"; else
  fail "report without gnuplot says so" "exit status $status"
fi
if [ -s "$tmp/only/report.html" ]; then pass "report without gnuplot still writes the page"; else
  fail "report without gnuplot still writes the page"
fi

# ---- runs that fail and diverge are outcomes

cat >"$tmp/failing.yaml" <<'Y' # the text has fewer tokens than training is to read
name: failing
encoding: nope
task: ["text(file=LICENSE)", "sort(symbols=32)"]
model: {width: 16, layers: 1, heads: 2}
train: {len: 8, steps: 100, batch: 4, lr: [1e-3, 1000], clip: 0}
eval: {ratios: [1, 2], items: 8}
overrides: [{when: {task: "text(file=LICENSE)"}, set: {train: {data: 100000000}}}]
Y
expect 1 "a sweep with failures goes on" "$posbench" sweep "$tmp/failing.yaml" --out "$tmp/failing" --jobs 2
count_is "each outcome has a record" "$tmp/failing" 4
said "$out" "failures are counted" "2 failed"
said "$out" "divergences are counted" "1 diverged"
run grep -h '"message"' "$tmp"/failing/runs/*.json
said "$out" "the record says why" "train.data: 100000000 tokens"
expect 1 "failures are not done again by themselves" "$posbench" sweep "$tmp/failing.yaml" --out "$tmp/failing"
said "$out" "but pointed at" "--retry failed does them again"
expect 1 "--retry failed does" "$posbench" sweep "$tmp/failing.yaml" --out "$tmp/failing" --retry failed
said "$out" "only those" "1 of 4 runs were there"

# ---- Ctrl-C

cat >"$tmp/long.yaml" <<'Y'
name: long
encoding: [nope, alibi]
task: sort(symbols=32)
seed: [1, 2, 3]
model: {width: 16, layers: 1, heads: 2}
train: {len: 8, steps: 800, batch: 16}
eval: {ratios: [1, 2], items: 8}
Y
for signal in INT TERM; do
  folder=$tmp/long-$signal
  "$posbench" sweep "$tmp/long.yaml" --out "$folder" --jobs 2 >"$out" 2>"$err" &
  child=$!
  for _ in $(seq 300); do
    [ "$(count_records "$folder")" = 0 ] || break
    sleep 0.05
  done
  kill -s "$signal" $child
  wait $child
  status=$?
  if [ $status = 130 ]; then pass "SIG$signal ends a sweep with 130"; else fail "SIG$signal ends a sweep with 130" "$status"; fi
  done_before=$(count_records "$folder")
  if [ "$done_before" -gt 0 ] && [ "$done_before" -lt 6 ]; then pass "SIG$signal stopped it half way ($done_before of 6)"; else
    fail "SIG$signal stopped it half way" "$done_before of 6"
  fi
  has_no "SIG$signal leaves no temporary file" "$folder" '*.tmp*'
  cp -r "$folder/runs" "$tmp/kept-$signal"
  expect 0 "the same command goes on after SIG$signal" "$posbench" sweep "$tmp/long.yaml" --out "$folder" --jobs 2
  count_is "and completes" "$folder" 6
  changed=0
  for record in "$tmp/kept-$signal"/*.json; do cmp -s "$record" "$folder/runs/${record##*/}" || changed=1; done
  if [ $changed = 0 ]; then pass "what had finished before SIG$signal is untouched"; else fail "what had finished before SIG$signal is untouched"; fi
done
same_records "both came to the same" "$tmp/long-INT" "$tmp/long-TERM"
"$posbench" "${long[@]}" --out "$tmp/stopped.json" >"$out" 2>"$err" &
child=$!
sleep 1
kill -INT $child
wait $child
status=$?
if [ $status = 130 ]; then pass "SIGINT ends a run with 130"; else fail "SIGINT ends a run with 130" "$status"; fi
if [ ! -e "$tmp/stopped.json" ]; then pass "a stopped run leaves no record"; else fail "a stopped run leaves no record"; fi

done_testing
