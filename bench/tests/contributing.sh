#!/usr/bin/env bash
# contributing.sh POSBENCH SOURCE CC: the code in CONTRIBUTING.md and README.md compiles and passes its checks as it stands.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") source=$2 cc=$3
cd "$tmp" || exit 1

# block FILE NAME: what stands in the fence between <!-- begin NAME --> and <!-- end NAME -->.
block() {
  awk -v begin="<!-- begin $2 -->" -v end="<!-- end $2 -->" '
    $0 == begin { inside = 1; next }
    $0 == end { inside = 0 }
    inside && !/^```/' "$1"
}

# plugin FILE NAME OBJECT: builds the file that the document shows, with the lines that make it a plug-in.
plugin() {
  { block "$1" "$2.c" | sed 's/^const pe_descriptor /static &/'
    block "$source/CONTRIBUTING.md" plug-in | sed "s/pe_encoding_[a-z]*/pe_encoding_$2/"; } >"$2.c"
  "$cc" -std=gnu11 -Wall -Wextra -Werror -O2 -fPIC -I"$source/encodings" -c "$2.c" -o "$2_f32.o" &&
    "$cc" -std=gnu11 -Wall -Wextra -Werror -O2 -fPIC -I"$source/encodings" -DPE_REAL_DOUBLE -c "$2.c" -o "$2_f64.o" &&
    "$cc" -shared "$2_f32.o" "$2_f64.o" -lm -o "$2.so"
}

try() { # DOCUMENT NAME
  local document=$1 name=$2
  holds "$document: $name.c compiles without warnings" plugin "$source/$document" "$name"
  holds "$document: $name passes its checks" "$posbench" check --plugin "./$name.so" "$name"
  said "$out" "$document: the check is of $name" "$name"
  holds "$document: $name trains" "$posbench" run --plugin "./$name.so" --encoding "$name" --task 'sort(symbols=32)' \
    --set train.steps=5 --set train.len=8 --set 'eval.ratios=1;2' --set eval.items=8
  holds "$document: $name stands in a stack" "$posbench" check --plugin "./$name.so" "rope+$name"
}

try CONTRIBUTING.md logarithm
try README.md triangle

# The same file with a mistake: the check must see it.
sed 's/c->dtheta\[0\]\[h\] += ds/c->dtheta[0][h] -= ds/' logarithm.c >wrong.c
if cmp -s logarithm.c wrong.c; then fail "a mistake is planted"; else pass "a mistake is planted"; fi
mv wrong.c logarithm.c
"$cc" -O2 -fPIC -I"$source/encodings" -c logarithm.c -o logarithm_f32.o
"$cc" -O2 -fPIC -I"$source/encodings" -DPE_REAL_DOUBLE -c logarithm.c -o logarithm_f64.o
"$cc" -shared logarithm_f32.o logarithm_f64.o -lm -o logarithm.so
expect 1 "and found" "$posbench" check --plugin ./logarithm.so logarithm

# The lines that build it are those of the document, with the program that was built.
plugin "$source/CONTRIBUTING.md" logarithm
rm -f logarithm.so logarithm_f32.o logarithm_f64.o
block "$source/CONTRIBUTING.md" 'plug-in build' >lines
ln -s "$source/encodings" encodings
mkdir bin
ln -s "$posbench" bin/posbench
ln -s "$(dirname "$posbench")/posbench-f64" bin/posbench-f64
holds "CONTRIBUTING.md: the lines that build a plug-in" env PATH="$tmp/bin:$PATH" sh -eu lines

# The generated parts of the documents are those of the registry; and the check would see it if they were not.
holds "README.md and encodings/README.md are up to date" "$source/bench/readme" --check "$posbench"
mkdir -p tree/bench tree/encodings
cp "$source/bench/readme" tree/bench/
for stale in README.md encodings/README.md; do
  cp "$source/README.md" tree/
  cp "$source/encodings/README.md" tree/encodings/
  expect 0 "a copy is up to date" tree/bench/readme --check "$posbench"
  sed 's/Attention with linear biases/Attention with crooked biases/' "$source/$stale" >"tree/$stale"
  if cmp -s "$source/$stale" "tree/$stale"; then fail "$stale is changed"; else pass "$stale is changed"; fi
  expect 1 "the check sees that $stale is out of date" tree/bench/readme --check "$posbench"
  said "$err" "and says what to do" "$stale is out of date; run: bench/readme build/bench/posbench"
  sed '/crooked/d' "tree/$stale" >shorter && mv shorter "tree/$stale"
  expect 1 "the check sees that a line of $stale is missing" tree/bench/readme --check "$posbench"
done

# Commands and files that the documents speak of exist.
for document in README.md CONTRIBUTING.md encodings/README.md; do
  for path in $(grep -oE '\]\([a-zA-Z][^):]*\)' "$source/$document" | tr -d '()]' | sed 's/#.*//' | sort -u); do
    if [ -e "$(dirname "$source/$document")/$path" ]; then pass "$document: $path is there"; else fail "$document: $path is there"; fi
  done
  for command in $(grep -oE '(^    |`|bench/)posbench [a-z]+' "$source/$document" | sed 's/.*posbench //' | sort -u); do
    expect 0 "$document: posbench $command is a command" "$posbench" help "$command"
  done
done

done_testing
