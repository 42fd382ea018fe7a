#!/usr/bin/env bash
# two_files.sh SOURCE CC GEMM: adding an encoding touches two files. A copy of the tree gets one file more and one line in
# list.h, is built, and everything knows the new encoding.
. "$(dirname "$0")/tap.sh"
source=$1 cc=$2 gemm=$3
new=$source/bench/tests/two_files/bell.c name=bell
cd "$tmp" || exit 1

# ---- the tree without build folders and results: what a checkout has, and what has not been committed yet

copy_tree() { # TO
  local entry
  mkdir "$1"
  for entry in "$source"/*; do
    case ${entry##*/} in results) continue ;; esac
    if [ -d "$entry/meson-private" ] || compgen -G "$entry/*/meson-private" >/dev/null; then continue; fi
    cp -R "$entry" "$1/"
  done
}
copy_tree before
copy_tree after
if [ -f after/meson.build ] && [ -f after/encodings/list.h ]; then pass "the tree is copied"; else fail "the tree is copied"; fi
if [ -e "after/encodings/$name.c" ] || grep -q "($name)" after/encodings/list.h; then fail "$name is new"; else pass "$name is new"; fi

# ---- the two files

cp "$new" after/encodings/
last=$(grep -n '^PE_ENCODING(' after/encodings/list.h | tail -n 1 | cut -d : -f 1)
sed -i "${last}a PE_ENCODING($name)" after/encodings/list.h

# ---- it is built: without optimisation, since it has little to compute, and many files at a time

holds "the tree is configured" env CC="$cc" meson setup build after -Dbuildtype=plain -Doptimization=0 -Dtests=disabled \
  -Dunity=on -Dunity_size=32 -Dgemm="$gemm"
expect 0 "the programs are built" ninja -C build programs
if grep -q "$name\.c:.*warning" "$out"; then fail "without a warning for $name.c"; else pass "without a warning for $name.c"; fi
posbench=$tmp/build/bench/posbench
if [ ! -x "$posbench" ]; then
  done_testing
fi

# ---- everything knows it

matches() { # NAME PATTERN
  if grep -qE -- "$2" "$out"; then pass "$1"; else fail "$1" "no line like: $2"; fi
}
expect 0 "list" "$posbench" list encodings
matches "it is in the list, in its family" "^  [a-z ]* +$name +Gaussian bias$"
expect 0 "show" "$posbench" show "$name"
for word in "$name - Gaussian bias" "  family    bias" "  source    Yang et al. 2018" "  formula   s_ij -= (pos_i - pos_j)^2" \
  "  enters at bias" "with learned=true: not parameter-free" "width=8  (number, 0.01 to 1000000)" "$name(learned=true)"; do
  said "$out" "show tells: $word" "$word"
done
for stack in "$name" "$name(width=2)" "$name(learned=true)" "rope+$name"; do
  expect 0 "check $stack" "$posbench" check "$stack"
  matches "its gradients, claims and protocol hold" ' gradient ok .* claims ok +protocol ok'
done
expect 0 "speed" "$posbench" speed "$name" --config A --rounds 1
matches "speed has a row" "^$name +[0-9.]+ \("
cat >mine.yaml <<Y
baseline: nope
encoding: [all, $name(learned=true)]
task: sort(symbols=32)
model: {width: 16, layers: 1, heads: 2}
train: {len: 8, steps: 6, batch: 4}
eval: {ratios: [1, 2], items: 8}
Y
expect 0 "a sweep" "$posbench" sweep mine.yaml --jobs 2
for stack in "$name" "$name(learned=true)"; do
  if grep -lqF "\"encoding\": \"$stack\"" results/mine/runs/*.json; then pass "a record of $stack"; else fail "a record of $stack"; fi
  if grep -qF -- "$stack" results/mine/summary.csv; then pass "$stack is in the tables"; else fail "$stack is in the tables"; fi
done
run "$posbench" report results/mine
if [ "$status" = 0 ] || { [ "$status" = 3 ] && grep -q gnuplot "$err"; }; then pass "a report"; else
  fail "a report" "exit status $status"
fi
for page in report.html report.md; do said "results/mine/$page" "$page has it" "$name"; done

# The rows of a figure's data, below their head.
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
  NR > 1 { print $1 "\t" $at["colour"] "\t" $at["point"] }' results/mine/plots/ranks.tsv >styles
if [ "$(grep -c "^$name" styles)" = 2 ]; then pass "it is drawn"; else fail "it is drawn"; fi
twice=$(cut -f 2,3 styles | sort | uniq -d)
if [ -z "$twice" ] && [ "$(wc -l <styles)" -ge 5 ]; then pass "in a shape and colour of its own"; else
  fail "in a shape and colour of its own" "$twice"
fi

# ---- the documents that are made from the registry gain it and change in nothing else

expect 0 "show --markdown" "$posbench" show --markdown
said "$out" "a sheet" "### \`$name\`"
said "$out" "in the table of contents" "[\`$name\`](#$name)"
expect 1 "bench/readme sees what is to be added" after/bench/readme --check "$posbench"
matches "to the table of README.md" "^> \| \`$name\` \| Gaussian bias \| bias \| shift-invariant, parameter-free, any-length \|"
if grep -q '^<' "$out"; then fail "and nothing else"; else pass "and nothing else"; fi

# ---- two files

difference=$(diff -rq before after)
wanted="Only in after/encodings: $name.c
Files before/encodings/list.h and after/encodings/list.h differ"
if [ "$(sort <<<"$difference")" = "$(sort <<<"$wanted")" ]; then pass "two files were touched"; else
  fail "two files were touched" "$difference"
fi
if [ "$(diff before/encodings/list.h after/encodings/list.h | grep -c '^[<>]')" = 1 ]; then pass "one of them by one line"; else
  fail "one of them by one line"
fi

done_testing
