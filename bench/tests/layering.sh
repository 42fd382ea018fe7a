#!/usr/bin/env bash
# layering.sh SOURCE BUILD CC SANITIZED: the rules of the design that a compiler does not know.
. "$(dirname "$0")/tap.sh"
source=$1 build=$2 cc=$3 sanitized=$4
cd "$source" || exit 1

# nothing NAME COMMAND ...: passes when the command prints nothing; what it prints is the log.
nothing() {
  local name=$1
  shift
  "$@" >"$out" 2>"$err"
  if [ ! -s "$out" ] && [ ! -s "$err" ]; then pass "$name"; else fail "$name"; fi
}

# at_least NAME NUMBER COUNT: a search that finds too little to search in proves nothing.
at_least() {
  if [ "$3" -ge "$2" ]; then pass "$1 ($3)"; else fail "$1" "$3, expected at least $2"; fi
}

# Code without comments, literals kept: "FILE<tab>LINE OF CODE" for all files given, read by one compiler as one text.
code_of() {
  awk 'FNR == 1 { print "# 1 \"" FILENAME "\"" } { print }' "$@" | "$cc" -fpreprocessed -dD -E -x c - 2>/dev/null |
    awk '/^# [0-9]+ "/ { split($0, part, "\""); file = part[2]; next } NF { print file "\t" $0 }'
}

sources_of() { # FOLDER ...: its .c and .h files, tests and build folders left out
  find "$@" -maxdepth 1 -name '*.[ch]' | sort
}

mapfile -t encodings < <(sed -n 's/^PE_ENCODING(\(.*\))$/\1/p' encodings/list.h)
mapfile -t maps < <(sed -n 's/^PE_MAP(\(.*\))$/\1/p' encodings/list.h)
at_least "list.h names encodings" 7 ${#encodings[@]}
at_least "list.h names maps" 3 ${#maps[@]}

# ---- 3. encodings include pe.h and the C library, nothing else; tasks see task.h, rng.h, what a family shares
# (task_digits.h) or a source (task_sources.h) and the C library

c_library='<(assert|complex|ctype|errno|float|inttypes|limits|math|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|time)\.h>'
mapfile -t encoding_files < <(grep -lE '^const pe_(descriptor|map) pe_(encoding|map)_[a-z0-9_]+ = ' encodings/*.c)
at_least "files of encodings and maps" 9 ${#encoding_files[@]}
foreign_includes() { # ALLOWED-HEADERS FILE ...
  local allowed=$1
  shift
  grep -HnE '^ *# *include' "$@" | grep -vE "include ($c_library|\"($allowed)\")"
}
nothing "encodings include pe.h and the C library only" foreign_includes 'pe\.h' "${encoding_files[@]}"
mapfile -t task_files < <(grep -lE '^const task_descriptor [a-z0-9_]+ = ' harness/*.c)
at_least "files of tasks" 5 ${#task_files[@]}
posix_too="$c_library|<(fcntl|unistd|sys/stat|sys/types|sys/mman|openssl/[a-z]+)\.h>"
task_includes() {
  grep -HnE '^ *# *include' "${task_files[@]}" | grep -vE "include ($posix_too|\"(task|task_digits|task_sources|rng)\.h\")"
}
nothing "tasks include task.h, rng.h, task_digits.h, task_sources.h and system headers only" task_includes

# ---- 2. harness, bench and plots never name an encoding

# Whole words of code outside comments. An identifier names an encoding when one of its parts does (alibi_slope). In running
# text, a literal with a space, and in identifiers a name that is also an English word may stand.
names=$(IFS='|'; echo "${encodings[*]}")
english='learned|fire|window|sandwich'
name_words() { # of lines "FILE<tab>CODE"
  sed -E 's/"([^"\\]|\\.)*"/\n&\n/g' "$1" |
    awk -F '\t' -v names="^($names)$" -v english="^($english)$" '
      NF > 1 && $1 ~ /^[a-z\/].*\.[a-z]+$|^bench\/[a-z]+$/ { file = $1; sub(/^[^\t]*\t/, "") }
      { count = split($0, word, /[^A-Za-z0-9]+/)
        is_name = $0 ~ /^"[^ ]*"$/
        for (i = 1; i <= count; i++)
          if (word[i] ~ names && (is_name || word[i] !~ english))
            print file ": " word[i] ": " $0 }'
}
mapfile -t nameless < <(sources_of harness bench)
scripts=(plots/*.gp plots/*.css plots/*.js bench/quickstart bench/selftest bench/setup.sh bench/readme)
at_least "files that must not name an encoding" 60 $((${#nameless[@]} + ${#scripts[@]}))
code_of "${nameless[@]}" >"$tmp/nameless"
for file in "${scripts[@]}"; do sed -E "s|^ *#.*||; s|^|$file\t|" "$file"; done >>"$tmp/nameless"
nothing "harness, bench and plots never name an encoding" name_words "$tmp/nameless"
printf 'a.c\tint %s_slope; const char *f(void) { return "%s"; }\n' "${encodings[0]}" "${encodings[-1]}" >"$tmp/named"
if [ "$(name_words "$tmp/named" | wc -l)" = 2 ]; then pass "the search would find a name"; else fail "the search would find a name"; fi

# ---- arrows point downwards only

upward() { # FOLDER FOLDER-ALLOWED ...: quoted includes that resolve to none of the folders
  local folder=$1 file header place found
  shift
  while IFS=: read -r file header; do
    found=
    for place in "${file%/*}" "$@"; do [ -e "$place/$header" ] && found=1; done
    [ "$header" = build_info.h ] && found=1 # made by meson for the harness
    [ -n "$found" ] || echo "$file includes $header"
  done < <(grep -rE --include='*.[ch]' --exclude-dir=tests '^ *# *include "' "$folder" | sed -E 's/# *include "([^"]+)".*/\1/; s/: */:/')
}
nothing "encodings include nothing from above" upward encodings encodings
nothing "harness includes nothing from above" upward harness harness encodings
nothing "bench includes what is below" upward bench bench harness encodings
at_least "includes looked at" 300 "$(grep -rhE --include='*.[ch]' '^ *# *include "' encodings harness bench | wc -l)"
if [ "$(upward harness harness | grep -c 'includes pe\.h$')" -ge 1 ]; then pass "the search would find an arrow"; else
  fail "the search would find an arrow"
fi

# ---- 4. only attention and model call the hooks of the six stages

hook_calls() {
  grep -nE '(->|\.)(embed|gate|rotate|score|bias|value)(_bwd)? ?\(' "$@"
}
callers=(harness/attention*.c harness/model*.c harness/network*.c) # network.c is the model's forward and backward
others=()
for file in harness/*.c bench/*.c; do
  case " ${callers[*]} " in *" $file "*) ;; *) others+=("$file") ;; esac
done
nothing "only attention and model call hooks" hook_calls "${others[@]}"
at_least "attention and model do call them" 10 "$(hook_calls "${callers[@]}" | wc -l)"

# ---- 6. no mutable globals; the library neither prints nor exits

objects=$(find "$build/encodings" "$build/harness" "$build/bench" -name '*.o' -not -path "$build/*/tests/*" -not -path "$build/*/plugin_example/*" | sort)
globals() {
  # shellcheck disable=SC2086
  objdump -t $objects | awk '
    / file format / { object = $1; sub(/.*\//, "", object); sub(/:$/, "", object) }
    / O / && $0 ~ / (\.bss|\.data|\.tbss|\.tdata|\*COM\*)/ && $0 !~ /\.data\.rel\.ro/ { print object ": " $NF }' |
    grep -v '^main\.c\.o: main_stop$'
}
if [ "$sanitized" = none ]; then
  at_least "object files" 60 "$(wc -w <<<"$objects")"
  nothing "no mutable globals" globals
  printf 'int bump(void) { static int count; return ++count; }\n' >"$tmp/count.c"
  "$cc" -O2 -c "$tmp/count.c" -o "$tmp/count.o"
  if [ "$(objects=$tmp/count.o globals | wc -l)" = 1 ]; then pass "the search would find a global"; else
    fail "the search would find a global"
  fi
else
  skip "no mutable globals" "sanitizers add their own"
fi
code_of encodings/*.c encodings/check/*.c harness/*.c >"$tmp/libraries"
prints() {
  sed 's/format(printf/format(/' "$tmp/libraries" | grep -E '\b(printf|puts|putchar|perror|exit|abort|stdout|stderr|setlocale) ?[(,);]'
}
nothing "the libraries neither print nor exit" prints
code_of bench/*.c >"$tmp/program"
exits() {
  grep -v '^bench/main\.c' "$tmp/program" | grep -E '\b(exit|abort|perror|setlocale) ?\('
}
nothing "only main.c exits" exits

# ---- 8. sizes and names

# A definition begins in the first column and its brace stands there too.
definitions() {
  awk '
    /^[A-Za-z_]/ { head = $0 }
    /^[ \t)]/ && head != "" { head = head " " $0 }
    /;$/ { head = "" }
    /^\{/ && head ~ /\(/ {
      name = head
      sub(/ *\(.*/, "", name)
      sub(/.*[ *]/, "", name)
      print name, FILENAME
      head = ""
    }
    /^\}/ { head = "" }' "$@"
}
mapfile -t sources < <(find encodings harness bench -name '*.c' -not -path '*/tests/*' -not -path '*/plugin_example/*' | sort)
at_least "definitions found" 400 "$(definitions "${sources[@]}" | wc -l)"
twice() { # two in one file are alternatives under #if
  definitions "${sources[@]}" | sort | awk '$1 == last && $2 != where { print $1 ": " where " and " $2 } { last = $1; where = $2 }'
}
nothing "every function has a name of its own" twice
too_long() {
  wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 500 { print $2 " has " $1 " lines" }'
}
nothing "no file is over 500 lines" too_long
wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 400 { print "# " $2 " has " $1 " lines" }'
if [ "$(wc -l <meson.build)" -lt 80 ]; then pass "the root meson.build is under 80 lines"; else
  fail "the root meson.build is under 80 lines"
fi

# ---- every header compiles alone. In double, the one header that knows of precision does; since no other does, what they
# need stands in either, and the twin library is built with all of them.

mkdir "$tmp/alone"
mapfile -t all_headers < <(find encodings harness bench -name '*.h' -not -path '*/tests/*')
for header in "${all_headers[@]}"; do
  printf '#include "%s"\n' "$source/$header" >"$tmp/alone/${header//\//_}.c"
done
at_least "headers" 40 ${#all_headers[@]}
headers() { # [OPTION ...] FILE ...
  "$cc" -std=gnu11 -fsyntax-only -Wall -Wextra -Werror -Iencodings -Iharness -Ibench -I"$build/harness" \
    '-DTASK(name)=' '-DCOMMAND(name)=' '-DTWIN_COMMAND(name)=' '-DKERNEL(result,name,parameters)=' "$@"
}
precise() {
  grep -l 'PE_REAL_DOUBLE' "${all_headers[@]}" | grep -vx 'encodings/pe\.h'
}
nothing "every header compiles alone" headers "$tmp"/alone/*.c
nothing "pe.h compiles alone, in double" headers -DPE_REAL_DOUBLE "$tmp/alone/encodings_pe.h.c"
nothing "pe.h alone knows of precision" precise

done_testing
