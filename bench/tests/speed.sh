#!/usr/bin/env bash
# speed.sh POSBENCH JSON_GET VERSUS: `posbench speed` and bench/versus - what they accept and what they print. No test depends
# on how long anything took.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") json_get=$(realpath "$2") versus=$(realpath "$3")
cd "$tmp" || exit 1

# numbers NAME FILE COUNT PATH: so many values stand there, all of them positive.
numbers() {
  local name=$1 file=$2 count=$3 path=$4
  "$json_get" "$file" "$path" >"$out" 2>"$err"
  if awk -v count="$count" '!/^[0-9.e+-]+$/ || $1 + 0 <= 0 { bad = 1 } END { exit bad || NR != count }' "$out"; then
    pass "$name"
  else
    fail "$name" "$count positive numbers wanted at $path of $file"
  fi
}

matches() { # NAME PATTERN
  if grep -qE -- "$2" "$out"; then pass "$1"; else fail "$1" "no line like: $2"; fi
}

# ---- the reference networks

expect 0 "--reference" "$posbench" speed --reference --rounds 1
for config in A B C D; do matches "it has a row for $config" "^$config +[0-9]+ +[0-9.]+ \([0-9.]+-[0-9.]+\) "; done
matches "it tells the processor's instructions" "of [A-Za-z0-9-]+ .* on this core"
expect 0 "--reference as JSON" "$posbench" speed --reference --rounds 1 --format json --config D,A
cp "$out" reference.json
if [ "$("$json_get" reference.json 'reference.*.config' | tr '\n' ' ')" = "A D " ]; then pass "--config picks A and D"; else
  fail "--config picks A and D"
fi
if [ "$("$json_get" reference.json schema)" = posbench-speed/1 ]; then pass "its schema"; else fail "its schema"; fi
for key in version level kernel compiler flags cpu baseline peak_kernel; do
  holds "it tells the program's $key" "$json_get" reference.json "program.$key"
done
for key in tokens_per_second mfu peak_flops resident_bytes first_step_seconds; do
  for part in median low high; do numbers "$key.$part" reference.json 2 "reference.*.$key.$part"; done
done
numbers "arena_bytes" reference.json 2 'reference.*.arena_bytes'
for key in width layers heads len batch vocab; do numbers "network.$key" reference.json 2 "reference.*.network.$key"; done
"$json_get" reference.json 'reference.*.flops_per_token' >"$out"
if [ "$(tr '\n' ' ' <"$out")" = "652032 5784576 " ]; then pass "useful operations of A and D"; else
  fail "useful operations of A and D"
fi
if [ "$("$json_get" reference.json 'reference.*.network.training' | tr '\n' ' ')" = "true false " ]; then
  pass "A is trained, D evaluated"
else
  fail "A is trained, D evaluated"
fi

# ---- encodings

expect 0 "a stack" "$posbench" speed rope+alibi --config A --rounds 1
matches "its row" '^rope\+alibi +[0-9.]+ \([0-9.]+-[0-9.]+\) '
matches "and the baseline's" '^nope +[0-9.]+ \('
if grep -q '^The network' "$out"; then fail "the network alone is not measured then"; else
  pass "the network alone is not measured then"
fi
expect 0 "two in A and D, as JSON" "$posbench" speed learned t5 --config A,D --rounds 1 --format json
cp "$out" costs.json
if [ "$("$json_get" costs.json 'encodings.*.encoding' | tr '\n' ' ')" = "nope learned t5 nope learned t5 " ]; then
  pass "a row for each in each"
else
  fail "a row for each in each"
fi
for part in median low high; do
  numbers "evaluation $part" costs.json 6 "encodings.*.eval.time.$part"
  for row in 0 1 2; do numbers "training $part" costs.json 1 "encodings.$row.train.time.$part"; done
done
if [ "$("$json_get" costs.json encodings.3.train)" = null ]; then pass "D has no training"; else fail "D has no training"; fi
if [ "$("$json_get" costs.json encodings.1.parameters)" = 4096 ]; then pass "parameters of a table"; else
  fail "parameters of a table"
fi

# ---- where the time goes

expect 0 "--breakdown" "$posbench" speed --breakdown --config A --rounds 1
matches "a row" "^A +nope +[0-9.]+ +[0-9.]+ \( *[0-9]+\) +[0-9.]+ \( *[0-9]+\)( +[0-9.]+){4}$"
expect 0 "--breakdown of a stack, as JSON" "$posbench" speed --breakdown --config A,D --rounds 1 --format json t5
cp "$out" parts.json
for section in gemm attention elementwise encoding data; do
  numbers "share of $section" parts.json 2 "breakdown.*.sections.$section.share"
done
numbers "share of optimiser" parts.json 1 breakdown.0.sections.optimiser.share
for key in step_seconds gemm_flops attention_flops; do numbers "$key" parts.json 2 "breakdown.*.$key"; done
for section in gemm attention elementwise encoding optimiser data; do
  "$json_get" parts.json "breakdown.0.sections.$section.share"
done | awk '{ sum += $1 } END { exit sum < 0.9999 || sum > 1.0001 }' && pass "shares are shares" || fail "shares are shares"

# ---- long sequences

expect 0 "--len" "$posbench" speed --len 600 alibi --config A
matches "a row" "^alibi +[0-9.]+ +[0-9]+ +[0-9.]+ +[0-9]+ MB +[0-9]+ MB$"
expect 0 "--len as JSON" "$posbench" speed --len 600 alibi "fox+rope" --format json
cp "$out" long.json
for key in seconds tokens_per_second mfu resident_bytes arena_bytes; do numbers "$key" long.json 2 "lengths.*.$key"; done
if [ "$("$json_get" long.json 'lengths.*.network.len' | sort -u)" = 600 ]; then pass "of 600 tokens"; else fail "of 600 tokens"; fi
# Memory must not grow with the square of the length: a row of scores of all heads, not all rows, is what may stand there.
for len in 2048 8192; do
  "$posbench" speed --len $len alibi shaw --config A --format json >long.$len.json
done
for i in 0 1; do
  short=$("$json_get" long.2048.json lengths.$i.arena_bytes) long=$("$json_get" long.8192.json lengths.$i.arena_bytes)
  if [ "$long" -lt $((short * 5)) ]; then pass "memory grows with the length"; else
    fail "memory grows with the length" "$short bytes for 2048 tokens, $long for 8192"
  fi
done

# ---- sweeps

mkdir scratch
expect 0 "--sweep" env TMPDIR="$tmp/scratch" "$posbench" speed --sweep --jobs 2 --rounds 1 --steps 2
matches "what two jobs do" '^2 jobs do [0-9.]+ \('
matches "evaluation's share" 'evaluation [0-9.]+ % of it'
if [ -z "$(ls scratch)" ]; then pass "it leaves nothing behind"; else fail "it leaves nothing behind" "$(ls scratch)"; fi
expect 0 "--sweep as JSON" "$posbench" speed --sweep --jobs 1 --rounds 1 --steps 1 --format json
cp "$out" sweep.json
for key in gain evaluation_share run_seconds; do numbers "$key" sweep.json 1 "sweep.*.$key.median"; done
refused 3 "scratch/none" "a temporary folder that is not there" env TMPDIR="$tmp/scratch/none" "$posbench" speed --sweep

# ---- wrong command lines

refused 2 "did you mean 'alibi'?" "a misspelt encoding" "$posbench" speed albi
refused 2 "did you mean 'alibi'?" "a misspelt encoding, last of two" "$posbench" speed rope albi
refused 2 "did you mean 'alibi'?" "a misspelt encoding with --len" "$posbench" speed --len 100 albi
refused 2 "'E' is not one of A|B|C|D" "an unknown network" "$posbench" speed --config A,E
refused 2 "0 is not in 1 .. " "no rounds" "$posbench" speed --rounds 0
refused 2 "--reference and --breakdown" "two measurements" "$posbench" speed --breakdown --reference
refused 2 "--len and --sweep" "two measurements" "$posbench" speed --sweep --len 3
refused 2 "'rope': --sweep takes no STACK" "a stack with --sweep" "$posbench" speed --sweep rope
refused 2 "'rope': --reference takes no STACK" "a stack with --reference" "$posbench" speed --reference rope
refused 2 "takes no --config" "--config with --sweep" "$posbench" speed --sweep --config A
refused 2 "'rope': --examples" "a stack and --examples" "$posbench" speed --examples rope
refused 2 "takes no --rounds" "--rounds with --len" "$posbench" speed --len 3 --rounds 2
refused 2 "with --sweep only" "--jobs without --sweep" "$posbench" speed --jobs 2
refused 2 "with --sweep only" "--steps without --sweep" "$posbench" speed --steps 2
refused 2 "positions for the map" "a map that needs a task" "$posbench" speed rope@task
refused 2 "did you mean 'json'?" "an unknown format" "$posbench" speed --format jsn

# ---- beside PyTorch

if ! command -v python3 >/dev/null; then
  skip "bench/versus" "no python3 here"
  done_testing
fi
cat >nothing <<'P'
#!/bin/sh
exit 1
P
chmod +x nothing
expect 0 "versus without PyTorch" "$versus" --config A,D --rounds 1 --python "$tmp/nothing" "$posbench"
said "$err" "it says that PyTorch is missing" "PyTorch is not installed"
matches "posbench has a row all the same" "^A +posbench +[0-9,]+ +[0-9.]+"
expect 0 "as JSON" "$versus" --config A --rounds 2 --python "$tmp/nothing" --format json "$posbench"
cp "$out" versus.json
for key in tokens_per_second mfu resident_bytes first_step_seconds; do
  for part in median low high; do numbers "$key.$part" versus.json 1 "configs.*.posbench.$key.$part"; done
done
expect 0 "as Markdown" "$versus" --config A --rounds 1 --python "$tmp/nothing" --format markdown "$posbench"
matches "a table" '^\| A \| posbench \| [0-9,]+ \| [0-9.]+ \| [0-9]+ \| [0-9]+ \|  \|$'
for word in "--config E" "--config A,A" "--rounds 0" "--core 99999" "--format xml"; do
  # shellcheck disable=SC2086
  refused 2 "${word%% *}" "versus $word" "$versus" $word "$posbench"
done
refused 3 "no such program" "versus without posbench" "$versus" "$tmp/none"
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import torch' 2>/dev/null; then python=$candidate && break; fi
done
if [ -n "$python" ]; then
  expect 0 "versus with PyTorch" "$versus" --config A --rounds 1 --python "$python" --format json "$posbench"
  cp "$out" versus.json
  numbers "a ratio" versus.json 1 'configs.*.peers.*.ratio.median'
  numbers "PyTorch's MFU" versus.json 1 'configs.*.peers.*.mfu.median'
else
  skip "versus with PyTorch" "python3-torch is not installed"
fi

done_testing
