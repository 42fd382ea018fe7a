#!/usr/bin/env bash
# golden.sh POSBENCH FOLDER: files of reference vectors, good, wrong, broken and strange, through `posbench golden`.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") folder=$(realpath "$2")
cd "$tmp" || exit 1

last_line_is() { # NAME LINE
  if [ "$(tail -n 1 "$out")" = "$2" ]; then pass "$1"; else fail "$1" "not: $2"; fi
}

# matches NAME PATTERN: the last command's output has such a line.
matches() {
  if grep -qE -- "$2" "$out"; then pass "$1"; else fail "$1" "no line like: $2"; fi
}

# ---- a file that is right, in both precisions

cases=$(grep -c '"id"' "$folder/alibi.json")
expect 0 "a right file" "$posbench" golden "$folder/alibi.json"
last_line_is "all of it passed" "$cases passed, 0 failed, 0 skipped"
if [ "$(grep -cE '^  ok  ' "$out")" = "$cases" ]; then pass "a line for each case"; else fail "a line for each case"; fi
matches "with name, operation, numbers and the worst of them" \
  '^  ok +[a-z0-9._]+ +[a-z0-9_]+ +[0-9]+ numbers, at worst [0-9.e+-]+ of the tolerance'
said "$out" "in single precision" "In single precision"
expect 0 "--double" "$posbench" golden --double "$folder/alibi.json"
said "$out" "is double precision" "In double precision"
last_line_is "and passes too" "$cases passed, 0 failed, 0 skipped"

# ---- whole networks

expect 0 "a whole network" "$posbench" golden --double "$folder/model_rope.json"
for check in logits trace loss grads grad_digest losses grad_norms weights_after_10 weight_digest_1 logits_after_10; do
  matches "it has a line for $check" "^  ok +rope\\.$check +network +[0-9]+ numbers"
done
last_line_is "and each passes" "12 passed, 0 failed, 0 skipped"

# ---- all files of the tree at once: nothing fails, and what is skipped is told again at the end

expect 0 "all files of the tree" "$posbench" golden "$folder"/*.json
for file in "$folder"/*.json; do
  if grep -qxF -- "$file" "$out"; then pass "${file##*/} has its part"; else fail "${file##*/} has its part"; fi
done
total=$(sed -nE 's/^  ([0-9]+) passed, .*/\1/p' "$out" | awk '{ sum += $1 } END { print sum }')
if [ "$(tail -n 1 "$out" | cut -d ' ' -f 1)" = "$total" ]; then pass "the sum of the files is the last line"; else
  fail "the sum of the files is the last line" "$total"
fi
run bash -c "set -o pipefail; '$posbench' golden '$folder'/*.json | tail -n 1"
if [ "$status" = 0 ] && grep -qE '^[0-9]+ passed, 0 failed, [0-9]+ skipped$' "$out"; then pass "complete in a pipe"; else
  fail "complete in a pipe"
fi
run bash -c "set -o pipefail; '$posbench' golden '$folder'/*.json | head -n 2"
if [ "$status" = 0 ] && [ ! -s "$err" ]; then pass "a reader that leaves early"; else fail "a reader that leaves early"; fi

# ---- one number is wrong

one() { # ID OP PARAMS SLOPE: a file of one case
  printf '{ "schema": "pe-golden/1", "cases": [\n{ "id": "%s", "op": "%s", "variant": "interleaved",\n' "$1" "$2"
  printf '  "params": { %s }, "in": {}, "out": { "slopes": { "shape": [2], "data": [%s, 0.00390625] } },\n' "$3" "$4"
  printf '  "tol": { "f64": [1e-12, 0], "f32": [1e-6, 0] } }\n] }\n'
}
one right alibi_slopes '"heads": 2' 0.0625 >right.json
one wrong alibi_slopes '"heads": 2' 0.0626 >wrong.json
one unknown telepathy '"heads": 2' 0.0625 >unknown.json
one odd alibi_slopes '"heads": 2, "twist": 1' 0.0625 >odd.json
expect 0 "a file of one case" "$posbench" golden right.json
expect 1 "a wrong number" "$posbench" golden wrong.json
matches "is told with both numbers" '^  FAILED +wrong +alibi_slopes .*slopes\[0\]: expected 0\.0626[0-9]*, got 0\.0625,'
last_line_is "and counted" "0 passed, 1 failed, 0 skipped"
expect 1 "in double too" "$posbench" golden --double wrong.json
expect 1 "one wrong file of several" "$posbench" golden right.json wrong.json right.json
last_line_is "and the others are held against the program all the same" "2 passed, 1 failed, 0 skipped"
sed 's/"lr": *0.001/"lr": 0.002/' "$folder/model_nope.json" >network.json
if cmp -s network.json "$folder/model_nope.json"; then fail "a network is changed"; else pass "a network is changed"; fi
expect 1 "a network that learns at another rate" "$posbench" golden network.json
matches "its loss before the first step is right" '^  ok +nope\.loss '
matches "its losses are not" '^  FAILED +nope\.losses .*losses\[1\]: expected '

# ---- what is not understood is skipped, and listed

expect 0 "an unknown operation" "$posbench" golden unknown.json right.json unknown.json
matches "is skipped with the reason" "^  skipped +unknown +telepathy +no encoding here computes the operation 'telepathy'"
sed -n '/^skipped$/,$p' "$out" >listed
if grep -qE "^ +2 +telepathy +no encoding here" listed; then pass "and listed at the end"; else fail "and listed at the end"; fi
last_line_is "and counted" "1 passed, 0 failed, 2 skipped"
expect 0 "an unknown parameter" "$posbench" golden odd.json
matches "is skipped with the reason" '^  skipped +odd +alibi_slopes +params\.twist is not understood'

# ---- no such file

refused 3 "none.json: No such file or directory" "a missing file" "$posbench" golden none.json
refused 3 "none.json" "a missing file beside a good one: nothing is done" "$posbench" golden right.json none.json
mkdir a_folder
refused 3 "a_folder: Is a directory" "a folder" "$posbench" golden a_folder
sed '3s/:/ /' right.json >broken.json
refused 2 "broken.json:3:" "broken JSON names its line" "$posbench" golden broken.json
: >empty.json
refused 2 "empty.json:1:0: " "an empty file" "$posbench" golden empty.json
printf '[1, 2]\n' >list.json
refused 2 "list.json: its schema is '', not pe-golden/1" "JSON of another kind" "$posbench" golden list.json
sed 's|pe-golden/1|pe-golden/2|' right.json >next.json
refused 2 "next.json: its schema is 'pe-golden/2', not pe-golden/1" "another schema" "$posbench" golden next.json
refused 2 "FILE ... is missing" "no file" "$posbench" golden
refused 2 "did you mean '--double'?" "a misspelt option" "$posbench" golden --duoble right.json
run bash -c "'$posbench' golden '$folder'/alibi.json >/dev/full"
if [ "$status" = 3 ] && grep -q "No space left on device" "$err"; then pass "a full disk"; else fail "a full disk" "$status"; fi
refused 3 "none.so" "a plug-in that is not there" "$posbench" golden --plugin ./none.so right.json

done_testing
