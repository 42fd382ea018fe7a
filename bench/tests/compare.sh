#!/usr/bin/env bash
# compare.sh POSBENCH SOURCE: two results folders side by side, and rates chosen by tuning, as a user meets them.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1")
cd "$tmp" || exit 1

small='model: {width: 16, layers: 1, heads: 2}
train: {len: 8, batch: 4}
eval: {ratios: [1, 2], items: 8}'
printf 'name: a\nencoding: [nope, alibi]\ntask: repeat_copy\nseeds: 3\ntrain.steps: 4\n%s\n' "$small" >a.yaml
printf 'name: b\nencoding: nope\ntask: repeat_copy\nseeds: 2\ntrain.steps: 8\n%s\n' "$small" >b.yaml
printf 'name: c\nencoding: nope\ntask: binary_majority\nseeds: 2\ntrain.steps: 4\n%s\n' "$small" >c.yaml
for name in a b c; do
  expect 0 "sweep $name" "$posbench" sweep $name.yaml --jobs 2
done

# ---- compare

expect 0 "compare" "$posbench" compare results/a results/b
said "$out" "it counts the runs" "A  results/a: sweep a, 6 runs, 6 of them with a result"
said "$out" "it says what was left out" "  train.steps            4 | 8  (differs by design)"
said "$out" "it counts the pairs" "2 pairs; without a partner: 4 in A, 0 in B"
said "$out" "it has a table for each score" "repeat_copy, exact_match, teacher_forced"
said "$out" "it lists runs of one side" "alibi on repeat_copy, seed 3, ok"
if [ "$(grep -c '^  nope  *\(8\|16\)  *2  .*\[.*\]$' "$out")" -ge 2 ]; then pass "each cell has an interval"; else
  fail "each cell has an interval"
fi
expect 0 "compare of a folder with itself" "$posbench" compare results/a results/a
said "$out" "all are pairs" "6 pairs; without a partner: 0 in A, 0 in B"
said "$out" "and nothing differs" "+0.0000  [+0.0000, +0.0000]"
expect 0 "compare --csv" "$posbench" compare results/a results/b --csv
said "$out" "its columns" \
  "encoding,task,seed,min_len,eval_len,metric,mode,pairs,mean_a,mean_b,difference,ci_low,ci_high,why"
said "$out" "runs of one side are rows too" "nope,repeat_copy,3,,,,,,,,,,,only in A"
if [ "$(awk -F, 'NF == 14' "$out" | wc -l)" = "$(wc -l <"$out")" ]; then pass "its rows are whole"; else
  fail "its rows are whole"
fi
expect 1 "compare of what has nothing in common" "$posbench" compare results/a results/c
said "$out" "it says so" "No run of A has a partner in B"
said "$out" "and lists both sides" "Only in B:"
cp -r results/b results/bad
printf '{' >results/bad/runs/broken.json
run "$posbench" compare results/a results/bad
if [ "$status" = 3 ] && grep -q "results/bad/runs/broken.json" "$err" && grep -q "2 pairs" "$out"; then
  pass "a record that cannot be read is told, the others are compared"
else
  fail "a record that cannot be read is told, the others are compared" "exit status $status"
fi
expect 1 "compare --ignore what tells runs apart" "$posbench" compare results/a results/b --ignore seed
said "$out" "it says why they are not matched" "3 runs of A look alike without what is left out"

done_testing
