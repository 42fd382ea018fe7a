#!/usr/bin/env bash
# extend.sh POSBENCH JSON_GET: training that goes on at longer lengths, as a user meets it.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") json_get=$(realpath "$2")
cd "$tmp" || exit 1

tiny='model: {width: 16, layers: 1, heads: 2}
train: {len: 8, batch: 8, steps: 20}
eval: {ratios: [1, 2], items: 8}'
spec() { # NAME ENCODINGS EXTEND
  printf 'name: %s\nencoding: %s\ntask: "passkey(digits=2)"\nseeds: 2\n%s\nextend: %s\n' "$1" "$2" "$tiny" "$3" >"$1.yaml"
}
faulty() { # NAME TEXT ENCODINGS EXTEND
  spec bad "$3" "$4"
  refused 2 "$2" "$1" "$posbench" sweep bad.yaml --dry-run
}

# ---- what a spec may not say

faulty "a misspelt method" "unknown method 'interpolat'; did you mean 'interpolate'?" rope '{methods: [none, interpolat]}'
faulty "a method that no encoding of the spec has" "no encoding here has the method 'yarn'" '[learned, alibi]' '{methods: yarn}'
said "$err" "it is shown where it stands" "extend: {methods: yarn}"
faulty "a method twice" "the method 'none' stands there twice" rope '{methods: [none, none]}'
faulty "an option that a method does not have" "did you mean 'beta_fast'?" rope '{methods: [yarn(beta_fst=2)]}'
faulty "a misspelt key" "did you mean 'factors'?" rope '{methods: none, factor: 2}'
faulty "factors without methods" "extend.factors: it belongs to extend.methods" rope '{factors: [2, 4]}'
faulty "a factor that is none" "extend.factors: 1 times train.len 8 is no longer length" rope '{methods: none, factors: [1, 2]}'
faulty "half a step" "extend.steps: 0.5 is no number of steps" rope '{methods: none, steps: [0.5]}'
faulty "options that the task does not have" "unknown option 'dept'; did you mean 'depth'?" rope \
  '{methods: none, task_options: [dept=1]}'

# ---- a grid of encodings and methods

spec grid '[learned, sinusoidal, rope]' \
  '{methods: [none, clamp, interpolate, yarn], factors: [2], steps: [0, 3], task_options: [depth=0, depth=1]}'
expect 0 "a sweep" "$posbench" sweep grid.yaml --jobs 1 --out one
expect 0 "the same with two processes" "$posbench" sweep grid.yaml --jobs 2 --out two
same "both give the same numbers" one/extension.csv two/extension.csv
run head -n 1 one/extension.csv
said "$out" "columns of extension.csv" "encoding,task,train_len,factor,method,task_options,steps,tokens,eval_len,ratio,metric,mode,\
seeds,mean,sd,median,ci_low,ci_high,status,flag,reason"
rows() { # NAME NUMBER PATTERN
  local found
  found=$(grep -cE "$3" one/extension.csv)
  if [ "$found" = "$2" ]; then pass "$1"; else fail "$1" "$found rows, not $2: $3"; fi
}
# 2 step counts, 2 lengths; where there are values, under no options and two of the task.
rows "a method has its rows" 12 '^rope,passkey\(digits=2\),8,2,yarn,.*,exact_match,.*,ok,'
rows "a table that ends says so" 4 \
  '^learned,.*,2,none,.*,exact_match,.*,undefined,,.*a training sequence of [0-9]+ tokens reaches position [0-9]+ '
rows "a method that an encoding has not says so" 4 '^sinusoidal,.*,2,yarn,.*,exact_match,.*,undefined,,no member of the stack has it'
rows "by depth" 4 '^rope,passkey\(digits=2\),8,2,interpolate,depth=1,[03],.*,exact_match,.*,ok,'
expect 0 "collect" "$posbench" collect one
said "$out" "collect tells of the file" "one/extension.csv"
same "and makes the same one" one/extension.csv two/extension.csv
expect 0 "report" "$posbench" report one --format md
if grep -q '^## Extended' one/report.md && [ -s one/plots/extended.svg ]; then pass "the report has section and figure"; else
  fail "the report has section and figure"
fi

# ---- one run, and one that is interrupted on its way

run_it=("$posbench" run --encoding rope --task sort --set train.len=8 --set train.steps=20 --set model.width=32
  --set 'extend.methods=none;interpolate' --set extend.factors=4 --set 'extend.steps=0;300;600' --set eval.items=8)
expect 0 "a run" "${run_it[@]}" --out whole.json
said "$out" "it prints what followed" "after steps of fine-tuning"
said whole.json "the record holds it" '"extension": ['
"${run_it[@]}" --out part.json >"$out" 2>"$err" </dev/null &
child=$!
for _ in $(seq 600); do
  grep -q '^extend' "$err" && break
  [ -e part.json ] && break
  sleep 0.05
done
kill -INT "$child" 2>/dev/null
wait "$child"
status=$?
if [ -e part.json ]; then
  skip "it goes on where it was interrupted" "it was through before it could be interrupted"
else
  if [ "$status" = 130 ]; then pass "an interrupted run says so"; else fail "an interrupted run says so" "exit status $status"; fi
  if [ -s part.json.state-extend ]; then pass "it leaves its state"; else fail "it leaves its state"; fi
  expect 0 "it goes on where it was interrupted" "${run_it[@]}" --out part.json
  if compgen -G 'part.json.state*' >/dev/null; then fail "no state is left behind"; else pass "no state is left behind"; fi
  for file in whole part; do
    sed -e '/^  "cost": /d' $file.json >$file.kept
  done
  same "its record is that of one sitting" whole.kept part.kept
fi
run "$json_get" whole.json status
said "$out" "the record is a whole one" ok
done_testing
