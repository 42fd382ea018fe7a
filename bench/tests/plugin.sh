#!/usr/bin/env bash
# plugin.sh POSBENCH PLUGIN FIXTURES HEADER: an encoding from a shared object is used by every command like one of the
# built-in ones; one that was built for another program is refused.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") plugin=$(realpath "$2") fixtures=$(realpath "$3")
abi=$(sed -n 's/^#define PE_ABI \([0-9]*\)$/\1/p' "$4")
cd "$tmp" || exit 1

expect 0 "check --plugin" "$posbench" check --plugin "$plugin" nearness
said "$out" "check tells of it" "nearness"
expect 0 "check of a stack with it" "$posbench" check --plugin "$plugin" "rope+nearness(reach=8)"
expect 0 "list --plugin" "$posbench" list encodings --plugin "$plugin"
said "$out" "list has it" "nearness"
expect 0 "show --plugin" "$posbench" show --plugin "$plugin" nearness
said "$out" "show has its options" "reach=1"
tiny=(--task 'sort(symbols=32)' --set model.width=16 --set model.layers=1 --set model.heads=2 --set train.steps=6
  --set train.batch=4 --set train.len=8 --set eval.items=8 --set 'eval.ratios=1;2')
expect 0 "run --plugin" "$posbench" run --plugin "$plugin" --encoding "nearness(bonus=2)" "${tiny[@]}" --out run.json
said run.json "the record names it" '"encoding": "nearness(bonus=2)"'
cat >mine.yaml <<'Y'
name: mine
encoding: [nope, nearness]
task: sort(symbols=32)
model: {width: 16, layers: 1, heads: 2}
train: {len: 8, steps: 6, batch: 4}
eval: {ratios: [1, 2], items: 8}
Y
expect 0 "sweep --plugin" "$posbench" sweep mine.yaml --plugin "$plugin" --jobs 1
said results/mine/summary.csv "the tables name it" "nearness"
sed 's/^encoding: .*/encoding: all/' mine.yaml >all.yaml
expect 0 "all with a plug-in" "$posbench" sweep all.yaml --plugin "$plugin" --only encoding=nearness --out all --dry-run
expect 2 "all without it" "$posbench" sweep all.yaml --only encoding=nearness --out all --dry-run
expect 0 "speed --plugin" "$posbench" speed --plugin "$plugin" nearness --config A --rounds 1
said "$out" "speed tells of it" "nearness"

refused 2 "did you mean 'nearness'?" "a misspelt name" "$posbench" check --plugin "$plugin" nearnes
refused 2 "unknown encoding 'nearness'" "without the plug-in" "$posbench" check nearness
refused 2 "nearness" "the same plug-in twice" "$posbench" check --plugin "$plugin" --plugin "$plugin" nearness
# Wrong in one way each; their hooks abort, so a refusal is one before any of them ran.
refused 2 "was built with abi $((abi - 1)), this program with $abi" "an older abi" "$posbench" check --plugin "$fixtures/older_f32.so"
refused 2 "was built with abi $((abi + 1)), this program with $abi" "a newer abi" "$posbench" list --plugin "$fixtures/abi_f32.so"
refused 2 "was built with sizeof(real) 16, this program with 4" "another real" "$posbench" show nope --plugin "$fixtures/real_f32.so"
refused 2 "was built with sizeof(pe_descriptor) " "a smaller struct" "$posbench" speed nope --plugin "$fixtures/small_f32.so"
refused 2 "no symbol pe_plugin_f32" "a missing symbol" "$posbench" golden none.json --plugin "$fixtures/missing_f32.so"
refused 2 "no symbol pe_plugin_f32" "double precision alone" "$posbench" sweep mine.yaml --plugin "$fixtures/good_f64.so"
refused 2 "no symbol pe_plugin_f64" "single precision alone, which check cannot use" \
  "$posbench" check halves --plugin "$fixtures/good_f32.so"
expect 0 "single precision alone trains" "$posbench" run --plugin "$fixtures/good_f32.so" --encoding halves "${tiny[@]}"
printf 'no library\n' >text.so
refused 3 "text.so" "a file that is no library" "$posbench" check --plugin ./text.so

done_testing
