#!/usr/bin/env bash
# tune.sh POSBENCH JSON_GET: learning rates chosen by trials, end to end.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") json_get=$(realpath "$2")
cd "$tmp" || exit 1

records() { find "$1" -maxdepth 1 -name '*.json' 2>/dev/null | wc -l; }
records_are() { # NAME FOLDER NUMBER
  if [ "$(records "$2")" = "$3" ]; then pass "$1"; else fail "$1" "$(records "$2") records, not $3"; fi
}

small='model: {width: 16, layers: 1, heads: 2}
train: {len: 8, batch: 8, steps: 30, clip: 0}
eval: {ratios: [1, 2], items: 8}'
spec() { # NAME TUNE
  printf 'name: %s\nencoding: [nope, alibi]\ntask: [repeat_copy, binary_majority]\nseeds: 2\n%s\ntune: %s\n' \
    "$1" "$small" "$2"
}
spec tuned '{lr: [3e-3, 1e-4], seeds: 2}' >tuned.yaml

expect 0 "--dry-run" "$posbench" sweep tuned.yaml --dry-run
said "$out" "it tells the budget" "tuning: 2 learning rates with 2 seeds (101 to 102) for each of 4 cells: 16 trials"
said "$out" "it plans the trials" "tuned-tune: Trials that choose the learning rates of tuned: 16 runs"
said "$out" "it plans the runs" "then the runs themselves; 0 of 4 cells have their learning rate"
said "$out" "which are 8" "tuned: 8 runs"
if [ ! -e results ]; then pass "it makes nothing"; else fail "it makes nothing"; fi

expect 0 "a tuned sweep" "$posbench" sweep tuned.yaml --jobs 2
said "$out" "it tells the trials" "tuned-tune: 0 of 16 runs were there, 16 done"
said "$out" "it tells the choices" "learning rates chosen for 4 of 4 cells"
said "$out" "it does the runs" "tuned: 0 of 8 runs were there, 8 done"
records_are "trials have their own folder" results/tuned/tune/runs 16
records_are "results hold reported seeds alone" results/tuned/runs 8
seeds_of() { # FOLDER
  for record in "$1"/*.json; do "$json_get" "$record" config.seed; done | sort -u | tr '\n' ' '
}
seeds=$(seeds_of results/tuned/runs)
if [ "$seeds" = "1 2 " ]; then pass "reported seeds are those of the spec"; else fail "reported seeds" "$seeds"; fi
seeds=$(seeds_of results/tuned/tune/runs)
if [ "$seeds" = "101 102 " ]; then pass "trials have other seeds"; else fail "trials have other seeds" "$seeds"; fi
cells=$("$json_get" results/tuned/tune/choice.json 'cells.*.lr' | wc -l)
if [ "$cells" = 4 ]; then pass "the choices are in a file"; else fail "the choices are in a file" "$cells"; fi
wrong=0
for cell in 0 1 2 3; do # each choice by hand: the smaller sum of the losses in the records
  best=$("$json_get" results/tuned/tune/choice.json "cells.$cell.lr")
  mine=$(for trial in 0 1 2 3; do
    echo "$("$json_get" results/tuned/tune/choice.json "cells.$cell.trials.$trial.lr")" \
      "$("$json_get" results/tuned/tune/choice.json "cells.$cell.trials.$trial.validation_loss")"
  done | awk '{ sum[$1] += $2 } END { for (lr in sum) print sum[lr], lr }' | sort -g | head -n 1 | cut -d ' ' -f 2)
  [ "$best" = "$mine" ] || wrong=1
done
if [ $wrong = 0 ]; then pass "each choice is the smallest mean"; else fail "each choice is the smallest mean"; fi
if ! grep -q ',10[12],' results/tuned/runs.csv; then pass "no trial is in the tables"; else
  fail "no trial is in the tables"
fi
rates=$(for record in results/tuned/runs/*.json; do "$json_get" "$record" config.train.lr; done | sort -u | wc -l)
if [ "$rates" -ge 1 ] && [ "$rates" -le 2 ]; then pass "runs have chosen rates"; else
  fail "runs have chosen rates" "$rates"
fi
if ! grep -q 'train.lr=' results/tuned/summary.csv; then pass "a chosen rate is no other encoding"; else
  fail "a chosen rate is no other encoding"
fi

rm -f results/tuned/tune/runs/[0-3]*.json results/tuned/runs/[0-7]*.json
missing=$((16 - $(records results/tuned/tune/runs)))
cp results/tuned/tune/choice.json choice.json
expect 0 "it goes on where records are missing" "$posbench" sweep tuned.yaml --jobs 2
said "$out" "it does only those" "tuned-tune: $((16 - missing)) of 16 runs were there, $missing done"
same "and chooses the same" choice.json results/tuned/tune/choice.json
records_are "all runs are there" results/tuned/runs 8
expect 0 "a third time" "$posbench" sweep tuned.yaml
said "$out" "nothing is left" "tuned: 8 of 8 runs were there, 0 done"
expect 0 "--only does a part" "$posbench" sweep tuned.yaml --only encoding=nope,task=repeat_copy --out part --jobs 2
records_are "its trials" part/tune/runs 4
records_are "its runs" part/runs 2
refused 2 "train.lr is chosen by tuning" "--only of a rate" "$posbench" sweep tuned.yaml --only train.lr=1e-4

for worker in 0 1; do
  "$posbench" sweep tuned.yaml --out workers --jobs 1 --worker $worker/2 >worker.$worker 2>&1 &
done
wait
records_are "two workers do all trials" workers/tune/runs 16
records_are "and all runs" workers/runs 8
same "and come to the same choice" <(sed 's/"name": .*//' results/tuned/tune/choice.json) \
  <(sed 's/"name": .*//' workers/tune/choice.json)

# a language task: its trials read no test text, and its runs do
for _ in $(seq 400); do printf 'the quick brown fox jumps over a lazy dog. '; done >text.txt
printf 'name: text\nencoding: nope\ntask: text(file=text.txt)\nseeds: 1\n%s\ntune: {lr: [3e-3, 1e-4]}\n' \
  'model: {width: 16, layers: 1, heads: 2}
train: {len: 8, batch: 8, steps: 10}
eval: {ratios: [1, 2], tokens: 256, stride: 4}' >text.yaml
expect 0 "a tuned language task" "$posbench" sweep text.yaml
trial=$(find results/text/tune/runs -name '*.json' | head -n 1)
status=$("$json_get" "$trial" evaluation.0.status)
if [ "$status" = not_run ]; then pass "its trials read no test text"; else
  fail "its trials read no test text" "$status"
fi
status=$("$json_get" "$(find results/text/runs -name '*.json')" evaluation.0.status)
if [ "$status" = ok ]; then pass "its runs do"; else fail "its runs do" "$status"; fi
expect 0 "its report" "$posbench" report results/text --format md,tex
said results/text/report.md "has the trials" "Tuning: mean validation loss"
said results/text/report.tex "cites what was run" '\cite{shannon1951prediction,press2022train}'
said results/text/sources.bib "names the works" "@article{shannon1951prediction,"

spec wild '{lr: [1000, 100000]}' >wild.yaml
expect 1 "rates at which all diverge" "$posbench" sweep wild.yaml --jobs 2
said "$out" "it says so for each cell" \
  "no learning rate for nope on repeat_copy, whose runs are left out: all 2 trials diverged"
records_are "and reports nothing" results/wild/runs 0
printf 'name: half\nencoding: nope\ntask: repeat_copy\nseeds: 1\n%s\ntune: {lr: [1e-3, 100000]}\n' "$small" >half.yaml
expect 0 "a rate at which all diverge beside a good one" "$posbench" sweep half.yaml
best=$("$json_get" results/half/tune/choice.json cells.0.lr)
if [ "$best" = 0.001 ]; then pass "the good one is taken"; else fail "the good one is taken" "$best"; fi

done_testing
