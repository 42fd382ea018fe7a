#!/usr/bin/env bash
# cli.sh POSBENCH JSON_GET: the command line itself - help, names, errors, exit statuses, streams.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") json_get=$(realpath "$2")
cd "$tmp" || exit 1

# ---- help

expect 0 "help" "$posbench" help
for command in list show check golden run sweep collect report compare claims speed help; do
  said "$out" "help names $command" "  $command "
done
"$posbench" help >plain.txt
expect 0 "--help" "$posbench" --help
same "--help is help" plain.txt "$out"
for command in list show check golden run sweep collect report compare claims speed help; do
  expect 0 "help $command" "$posbench" help "$command"
  said "$out" "help $command has examples" "posbench $command"
  cp "$out" by_help.txt
  run "$posbench" "$command" --help
  same "$command --help is help $command" by_help.txt "$out"
done
expect 0 "help config" "$posbench" help config
for row in encoding= seed=1 model.width= train.lr= eval.ratios=; do
  said "$out" "help config has $row" "$row"
done
said "$out" "help config tells bounds" "(integer, 1 to "
refused 2 "did you mean 'sweep'?" "help of a misspelt command" "$posbench" help swep
refused 2 "did you mean 'sweep'?" "--help of a misspelt command" "$posbench" swep --help
expect 0 "--version" "$posbench" --version
for word in "posbench " "real      float" "kernel " "compiler " "flags "; do
  said "$out" "--version tells $word" "$word"
done
expect 0 "the man page" "$posbench" help --man
said "$out" "the man page has a title" ".TH POSBENCH 1"
for command in list show check golden run sweep collect report compare claims speed help; do
  said "$out" "the man page has $command" ".SS posbench $command"
done
said "$out" "the man page has the settings" "model.width="
if command -v groff >/dev/null; then
  cp "$out" posbench.1
  run groff -ww -man -Tutf8 posbench.1
  if [ "$status" = 0 ] && [ ! -s "$err" ]; then pass "groff has no complaint"; else fail "groff has no complaint"; fi
else
  skip "groff has no complaint" "no groff here"
fi

# ---- the examples of the help do what they say; those with a file of the user's own need that file

small='--set model.width=16 --set model.heads=2 --set train.batch=4 --set eval.items=4 --set eval.ratios=1'
for command in list show check run sweep; do
  "$posbench" help "$command" | grep -v mine | sed -nE 's/ +#.*//; s/^  posbench (.*)/\1/p' >examples.txt
  while read -r line; do
    case $command in
      run) more=$small && case $line in *train.steps*) ;; *) more="$more --set train.steps=1" ;; esac ;;
      sweep) more=--dry-run && line=${line%--dry-run} ;;
      check) more= && [ "$line" != check ] || continue ;; # all of it is the encodings' own test
      *) more= ;;
    esac
    expect 0 "example: $line" env SLURM_ARRAY_TASK_ID=3 POSBENCH="$posbench" bash -c "\"\$POSBENCH\" $line $more"
  done <examples.txt
  if [ "$(wc -l <examples.txt)" -ge 2 ]; then pass "help $command had examples"; else fail "help $command had examples"; fi
done
expect 0 "help of a command whose examples name encodings by number" "$posbench" help profile
if grep -q '{[0-9]*}' "$out"; then fail "all numbers became names"; else pass "all numbers became names"; fi

# ---- wrong command lines

refused 2 "no command given" "no command" "$posbench"
refused 2 "unknown command 'swep'; did you mean 'sweep'?" "misspelt command" "$posbench" swep quick
refused 2 "unknown command 'xyzzy'" "unknown command" "$posbench" xyzzy
refused 2 "where a command should be" "an option before the command" "$posbench" --jobs 2 sweep quick
refused 2 "unknown option '--joobs'; did you mean '--jobs'?" "misspelt option" "$posbench" sweep quick --joobs 2
refused 2 "unknown option '-j'" "short option" "$posbench" sweep quick -j 2
refused 2 "'--jobs' needs a value" "value missing at the end" "$posbench" sweep quick --jobs
refused 2 "'--out' needs a value" "value missing before an option" "$posbench" sweep quick --out --jobs 2
refused 2 "value of option '--out' is empty" "empty value" "$posbench" sweep quick --out=
refused 2 "'--jobs' is given twice" "an option twice" "$posbench" sweep quick --jobs 1 --jobs=2
refused 2 "'--dry-run' takes no value" "a value for a flag" "$posbench" sweep quick --dry-run=yes
refused 2 "'12a8' is not a whole number" "trailing characters in a number" "$posbench" sweep quick --jobs 12a8
refused 2 "0 is not in 1 .. " "a number out of bounds" "$posbench" sweep quick --jobs 0
refused 2 "99999999999999999999 is not in" "a number beyond the type" "$posbench" sweep quick --jobs 99999999999999999999
refused 2 "SPEC is missing" "a word missing" "$posbench" sweep
refused 2 "unexpected 'b'" "a word too many" "$posbench" show a b
refused 2 "did you mean 'encodings'?" "misspelt kind" "$posbench" list encodngs
refused 2 "'jsn' is not one of text|json; did you mean 'json'?" "misspelt format" "$posbench" list --format jsn
refused 2 "'htm' is not one of html|md|tex; did you mean 'html'?" "misspelt page" "$posbench" report x --format md,htm
refused 2 "'faild' is not one of failed" "misspelt --retry" "$posbench" sweep quick --retry faild
for worker in 3 3/ /3 a/b 3/3 -1/3 1/0 1/3/5; do
  refused 2 "--worker: '$worker'" "--worker $worker" "$posbench" sweep quick --dry-run "--worker=$worker"
done
refused 2 "no spec 'quik' here or among the bundled ones; did you mean 'quick'?" "misspelt spec" "$posbench" sweep quik
refused 2 "did you mean 'alibi'?" "show of a misspelt name" "$posbench" show albi
refused 2 "did you mean 'unique_copy'?" "show of a misspelt task" "$posbench" show unque_copy
refused 2 "did you mean 'alibi'?" "run with a misspelt encoding" "$posbench" run --encoding albi --task sort
refused 2 "did you mean 'sort'?" "run with a misspelt task" "$posbench" run --encoding nope --task sotr
refused 2 "--task is missing" "run without a task" "$posbench" run --encoding nope
refused 2 "--encoding is missing" "run without an encoding" "$posbench" run --task sort
refused 2 "'model.width' is not KEY=VALUE" "--set without a value" \
  "$posbench" run --encoding nope --task sort --set model.width
refused 2 "did you mean 'train.lr'" "--set of a misspelt key" "$posbench" run --encoding nope --task sort --set train.lrr=1
refused 2 "12a8" "--set with trailing characters" "$posbench" run --encoding nope --task sort --set model.width=12a8
refused 2 "'seed' is given twice" "--set twice" "$posbench" run --encoding nope --task sort --set seed=1 --set seed=2
refused 2 "given by --seed and by --set" "--set against its own option" \
  "$posbench" run --encoding nope --task sort --seed 1 --set seed=2
refused 3 "$tmp/none/a.json" "a record that could not be written is found out before the run" \
  "$posbench" run --encoding nope --task sort --out "$tmp/none/a.json"
refused 3 "none.so" "a plug-in that is not there" "$posbench" check --plugin "$tmp/none.so"
refused 3 "$tmp/none" "collect of a folder that is not there" "$posbench" collect "$tmp/none"
refused 3 "$tmp/none" "compare of a folder that is not there" "$posbench" compare "$tmp/none" "$tmp/none"
refused 2 "DIR_A DIR_B is missing" "compare without folders" "$posbench" compare
refused 2 "did you mean 'train.lr'?" "compare that leaves out a misspelt row" "$posbench" compare a b --ignore train.lrr
refused 3 "$tmp/none" "report of a folder that is not there" "$posbench" report "$tmp/none"

# ---- names

expect 0 "list" "$posbench" list
for word in encodings maps tasks specs nope alibi identity unique_copy quick smoke; do
  said "$out" "list has $word" "$word"
done
for kind in encodings maps tasks specs; do
  "$posbench" list "$kind" --format json >"$kind.json"
  holds "list $kind --format json parses" "$json_get" "$kind.json" 0.name
  names=$("$json_get" "$kind.json" '*.name')
  [ "$kind" != specs ] || continue
  for name in $names; do
    expect 0 "show $name" "$posbench" show "$name"
    said "$out" "show $name begins with it" "$name - "
    said "$out" "show $name has its options" "  options"
  done
done
"$posbench" list --format=json >all.json
holds "list --format json parses" "$json_get" all.json encodings.0.claims
for name in $("$json_get" all.json 'encodings.*.name'); do
  "$posbench" show "$name" >shown.txt
  for word in family source formula claims "enters at"; do
    said shown.txt "show $name has $word" "  $word"
  done
done
expect 0 "-- ends the options" "$posbench" show -- alibi
refused 2 "show: NAME is missing" "show without a name" "$posbench" show
refused 2 "did you mean 'alibi'?" "show --markdown of a misspelt name" "$posbench" show --markdown albi

# Nothing that is known of an encoding is left out by either form of its sheet.
words_of() { tr -s ' \n' '  ' <"$1"; }
for kind in encodings maps; do
  count=$("$json_get" all.json "$kind.*.name" | wc -l)
  for ((i = 0; i < count; i++)); do
    name=$("$json_get" all.json "$kind.$i.name")
    "$posbench" show "$name" >shown.txt
    words_of shown.txt >words.txt
    for key in title source formula notes; do
      text=$("$json_get" all.json "$kind.$i.$key" 2>/dev/null | tr -s ' ') || continue
      [ -z "$text" ] || said words.txt "show $name has its $key" "$text"
    done
    "$json_get" all.json "$kind.$i.options.*.help" 2>/dev/null | tr -s ' ' >helps.txt || true
    while read -r help; do said words.txt "show $name has an option's help" "$help"; done <helps.txt
  done
done

# ---- the same as Markdown

expect 0 "show --markdown" "$posbench" show --markdown
cp "$out" sheets.md
for name in $("$json_get" all.json 'encodings.*.name'); do
  if [ "$(grep -cxF "### \`$name\`" sheets.md)" = 1 ]; then pass "a heading for $name"; else fail "a heading for $name"; fi
  said sheets.md "a link to it" "[\`$name\`](#$name)"
  "$posbench" show --markdown "$name" >sheet.md
  said sheets.md "the sheet of $name alone is the same" "$(sed -n 3p sheet.md)"
done
for name in $("$json_get" all.json 'maps.*.name'); do
  said sheets.md "a heading for map $name" "### Position map \`$name\`"
  said sheets.md "a link to it" "[\`$name\`](#position-map-$name)"
done
broken_tables() { # rows that do not have as many cells as the head of their table
  awk '
    /^\|/ { row = $0; gsub(/\\\|/, "", row); cells = gsub(/\|/, "", row) }
    /^\|/ && last !~ /^\|/ { wanted = cells }
    /^\|/ && cells != wanted { print NR ": " $0 }
    { last = $0 }' sheets.md
}
if [ "$(grep -c '^| --- ' sheets.md)" -ge 5 ] && [ -z "$(broken_tables)" ]; then pass "its tables hold together"; else
  fail "its tables hold together" "$(broken_tables | head -n 1)"
fi
if grep -nE '[^ -~]' sheets.md; then fail "it is ASCII"; else pass "it is ASCII"; fi
for name in $("$json_get" all.json 'tasks.*.name'); do
  expect 0 "show --markdown $name" "$posbench" show --markdown "$name"
  said "$out" "its heading" "### Task \`$name\`"
done

# ---- lines fit the terminal

longest() { tr -d '\r' <"$1" | awk '{ if (length($0) > most) most = length($0) } END { print most }'; }
"$posbench" show t5 >shown.txt
if [ "$(longest shown.txt)" -le 80 ]; then pass "80 columns where there is no terminal"; else fail "80 columns"; fi
if command -v script >/dev/null && command -v stty >/dev/null; then
  for columns in 50 95; do
    run script -qefc "stty cols $columns; $(printf '%q' "$posbench") show t5" typescript
    tr -d '\r' <"$out" | sed '/^Script /d' >lines.txt
    width=$(longest lines.txt)
    if [ "$width" -le $columns ] && [ "$width" -gt $((columns - 15)) ]; then pass "a terminal of $columns columns"; else
      fail "a terminal of $columns columns" "$width"
    fi
  done
else
  skip "the terminal's width" "no script(1) or stty(1) here"
fi

# ---- families stand together

"$posbench" list encodings >table.txt
if [ "$(wc -l <table.txt)" = "$("$json_get" all.json 'encodings.*.name' | wc -l)" ]; then pass "list has a row for each"; else
  fail "list has a row for each"
fi
twice=$(grep -oE '^  [a-z]+' table.txt | sort | uniq -d)
if [ -z "$twice" ]; then pass "list names each family once"; else fail "list names each family once" "$twice"; fi

# ---- streams

run bash -c "'$posbench' list >/dev/full"
if [ "$status" = 3 ] && grep -q "No space left on device" "$err"; then pass "a full disk"; else fail "a full disk" "$status"; fi
run bash -c "'$posbench' help --man >/dev/full"
if [ "$status" = 3 ] && grep -q "No space left on device" "$err"; then pass "a full disk, long output"; else
  fail "a full disk, long output" "$status"
fi
run bash -c "'$posbench' list >&-"
if [ "$status" = 3 ] && grep -q "Bad file descriptor" "$err"; then pass "a closed output"; else fail "a closed output" "$status"; fi
for command in list "list --format json" "help --man"; do
  run bash -c "set -o pipefail; '$posbench' $command | head -n 1"
  if [ "$status" = 0 ] && [ ! -s "$err" ] && [ "$(wc -l <"$out")" = 1 ]; then pass "$command | head"; else
    fail "$command | head" "exit status $status"
  fi
  run bash -c "set -o pipefail; '$posbench' $command | true"
  if [ "$status" = 0 ] && [ ! -s "$err" ]; then pass "$command | true"; else fail "$command | true" "exit status $status"; fi
done

# ---- locale

comma=$(locale -a 2>/dev/null | grep -iE '^(de_DE|fr_FR|de_AT)\.utf-?8$' | head -n 1)
if [ -n "$comma" ]; then
  "$posbench" help config >point.txt
  LC_ALL=$comma "$posbench" help config >comma.txt
  same "numbers have a point under $comma" point.txt comma.txt
  "$posbench" list --format json >point.json
  LC_ALL=$comma "$posbench" list --format json >comma.json
  same "JSON has points under $comma" point.json comma.json
else
  skip "numbers have a point in a locale with commas" "no such locale here"
fi

done_testing
