#!/usr/bin/env bash
# profile.sh POSBENCH JSON_GET: weights that a run keeps, and looking into tables, stacks and trained networks.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") json_get=$(realpath "$2")
cd "$tmp" || exit 1

small=(--set model.width=16 --set model.heads=2 --set train.len=8 --set train.batch=4 --set train.steps=4 --set eval.items=4)

# number FILE KEY: a value of a JSON file.
number() {
  "$json_get" "$1" "$2"
}

# ---- run --save

expect 0 "run --save" "$posbench" run --encoding learned --task repeat_copy "${small[@]}" --save run.safetensors
said "$out" "it says where the weights are" "The weights are run.safetensors"
if [ "$(head -c 10 run.safetensors | tail -c 2)" = '{"' ]; then pass "the file has a header"; else fail "the file has a header"; fi
for part in '"format":"pt"' '"tok_emb":{"dtype":"F32"' '"layer0.qkv.w":{"dtype":"F32","shape":[48,16]' '"lnf.b":{"dtype":"F32","shape":[16]' \
  '"learned.table":{"dtype":"F32","shape":[18,16]' 'encoding=learned'; do
  if head -c 4000 run.safetensors | grep -qaF -- "$part"; then pass "the header has $part"; else fail "the header has $part"; fi
done
refused 2 "run: --save: 'run.bin' does not end in .safetensors" "another ending" "$posbench" run --encoding learned \
  --task repeat_copy "${small[@]}" --save run.bin
refused 3 "nowhere/run.safetensors: cannot write there" "a folder that is not there" "$posbench" run --encoding learned \
  --task repeat_copy "${small[@]}" --save nowhere/run.safetensors
cp run.safetensors first.safetensors
expect 0 "run --save again" "$posbench" run --encoding learned --task repeat_copy "${small[@]}" --save run.safetensors
if cmp -s first.safetensors run.safetensors; then pass "the same bytes"; else fail "the same bytes"; fi
expect 1 "a run that diverges" "$posbench" run --encoding nope --task repeat_copy "${small[@]}" --set train.lr=1e9 --set train.clip=0 \
  --set train.warmup=0 --save diverged.safetensors
if [ ! -e diverged.safetensors ]; then pass "keeps no weights"; else fail "keeps no weights"; fi
said "$out" "and does not say that it did" "Nothing was written"

# ---- profile of a trained network, and of one tensor of it

expect 0 "profile of a trained run" "$posbench" profile run.safetensors
said "$out" "what it is" "run.safetensors: learned on repeat_copy, seed 1, trained for 4 steps at length 8"
said "$out" "its table" "Position is read off linearly"
said "$out" "its attention" "test sequences of up to 18 tokens"
said "$out" "its hidden states" "Position is read off hidden states linearly"
expect 0 "profile of one tensor" "$posbench" profile run.safetensors:learned.table --format json
cp "$out" tensor.json
if [ "$(number tensor.json table.rows) $(number tensor.json table.columns)" = "18 16" ]; then pass "its shape"; else
  fail "its shape" "$(number tensor.json table.rows) $(number tensor.json table.columns)"
fi
refused 2 "no tensor 'learned.tabel' in it; did you mean 'learned.table'?" "a tensor that is not there" "$posbench" profile \
  run.safetensors:learned.tabel
refused 2 "tensor 'lnf.w' has 1 dimensions" "a vector" "$posbench" profile run.safetensors:lnf.w
refused 2 "run.safetensors:learned.table has 18 rows, not 30" "more rows than there are" "$posbench" profile run.safetensors:learned.table --rows 30
head -c 5000 run.safetensors >cut.safetensors
refused 2 "cut.safetensors: not a safetensors file that can be read: tensor" "a file that is cut off" "$posbench" profile cut.safetensors
printf 'hello' >short.safetensors
refused 2 "short.safetensors: not a safetensors file" "a file that is none" "$posbench" profile short.safetensors
refused 3 "none.safetensors: No such file" "a file that is not there" "$posbench" profile none.safetensors
refused 2 "--set is for a stack" "settings beside a file" "$posbench" profile run.safetensors --set model.width=16

# ---- .npy

header="{'descr': '<f4', 'fortran_order': False, 'shape': (12, 2), }"
{
  printf '\223NUMPY\1\0\166\0'
  printf '%-117s\n' "$header"
  for i in 0 1 2 3 4 5 6 7 8 9 10 11; do printf '\0\0\200\077\0\0%b\100' "\\0$(printf '%o' $((i * 16)))"; done # 1 and 2 + i/4
} >table.npy
expect 0 "profile of an .npy" "$posbench" profile table.npy
said "$out" "its shape" "table.npy: a table of 12 rows and 2 columns"
said "$out" "it is a line" "1, 1 and 1 of 2 components hold 90, 95 and 99 % of the variance"
expect 0 "its first rows" "$posbench" profile table.npy --rows 5
said "$out" "how many were left out" "7 more were left out"
head -c 200 table.npy >cut.npy
refused 2 "cut.npy: not an .npy file that can be read: 72 bytes of numbers where its shape asks for 96" "an .npy that is cut off" \
  "$posbench" profile cut.npy
printf 'text' >table.txt
refused 2 "'table.txt' is neither FILE.npy nor FILE.safetensors[:NAME]" "a file of another kind" "$posbench" profile table.txt

# ---- stacks

expect 0 "profile of a stack" "$posbench" profile "rope+fox" --rows 40
said "$out" "its rotation" "It turns 8 planes"
said "$out" "its attention" "Attention of normal queries and keys"
expect 0 "other networks" "$posbench" profile alibi --set model.width=32 --set model.heads=2 --set model.causal=false --rows 9
said "$out" "distances of both signs" "          -8     -0.5"
refused 2 "did you mean 'rope'?" "a stack that there is not" "$posbench" profile ropee
refused 2 "'train.steps' is no setting of a network that is not trained" "a setting without meaning" "$posbench" profile rope \
  --set train.steps=4
refused 2 "--rows" "no rows" "$posbench" profile rope --rows 1
refused 2 "TARGET" "no target" "$posbench" profile

# ---- the folder

expect 0 "profile --out" "$posbench" profile sinusoidal --rows 64 --out folder
said "$out" "it says what it wrote" "folder/report.html"
for file in report.html report.md profile.json plots/cosine.csv plots/cosine.svg plots/distance.csv plots/components.svg; do
  if [ -s "folder/$file" ]; then pass "folder/$file"; else fail "folder/$file"; fi
done
mkdir bin
for tool in bash; do ln -s "$(command -v $tool)" bin/; done
run env PATH="$tmp/bin" "$posbench" profile alibi --rows 16 --out bare
if [ "$status" = 3 ] && [ -s bare/report.html ] && [ -s bare/plots/bias.csv ] && grep -q "gnuplot is not installed" "$err"; then
  pass "without gnuplot the rest is written"
else
  fail "without gnuplot the rest is written" "exit status $status"
fi
for n in 1 2; do "$posbench" profile "learned(rows=20)" --format json >same$n.json; done
if cmp -s same1.json same2.json; then pass "the same bytes twice"; else fail "the same bytes twice"; fi
if locale -a 2>/dev/null | grep -qi '^de_DE.utf-\?8$'; then
  LC_ALL=de_DE.UTF-8 "$posbench" profile "learned(rows=20)" --format json >german.json
  if cmp -s same1.json german.json; then pass "the same in a locale with commas"; else fail "the same in a locale with commas"; fi
else
  skip "the same in a locale with commas" "no such locale"
fi

# ---- lines fit a terminal; a pipe gets them whole

longest() { tr -d '\r' <"$1" | awk '{ if (length($0) > most) most = length($0) } END { print most }'; }
wide=(profile t5+rope --set model.heads=8 --set model.width=64)
"$posbench" "${wide[@]}" >piped.txt
if [ "$(longest piped.txt)" -gt 100 ]; then pass "a pipe gets whole lines"; else fail "a pipe gets whole lines"; fi
if [ "$(grep -c 'head 1 .*head 8$' piped.txt)" = 3 ]; then pass "and whole tables"; else fail "and whole tables"; fi
if command -v script >/dev/null && command -v stty >/dev/null; then
  for columns in 50 90; do
    run script -qefc "stty cols $columns; $(printf '%q ' "$posbench" "${wide[@]}")" typescript
    tr -d '\r' <"$out" | sed '/^Script /d' >lines.txt
    width=$(longest lines.txt)
    if [ "$width" -le $columns ] && [ "$width" -gt $((columns - 15)) ]; then pass "a terminal of $columns columns"; else
      fail "a terminal of $columns columns" "$width"
    fi
    if [ "$(grep -c 'head 8$' lines.txt)" = 3 ]; then pass "all heads are there"; else fail "all heads are there"; fi
  done
else
  skip "the terminal's width" "no script(1) or stty(1) here"
fi

done_testing
