# tap.sh - named tests in shell, told in the Test Anything Protocol. Sourced, not run.
#
# Each test runs a command and looks at its exit status and at what it said: $out and $err hold its two streams. The
# scratch folder $tmp is removed at the end. A script ends with `done_testing`.
set -u
export LC_ALL=C
unset TERM 2>/dev/null || true
tap_count=0
tap_failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
out=$tmp/out err=$tmp/err

pass() {
  tap_count=$((tap_count + 1))
  printf 'ok %d - %s\n' "$tap_count" "$1"
}

# fail NAME [REASON]: what the last command said goes into the log.
fail() {
  tap_count=$((tap_count + 1))
  tap_failed=$((tap_failed + 1))
  printf 'not ok %d - %s\n' "$tap_count" "$1"
  [ $# -lt 2 ] || printf '# %s\n' "$2"
  [ ! -s "$out" ] || head -n 40 "$out" | tr -d '\000\r' | sed 's/^/# out: /'
  [ ! -s "$err" ] || head -n 40 "$err" | tr -d '\000\r' | sed 's/^/# err: /'
}

skip() {
  tap_count=$((tap_count + 1))
  printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# run COMMAND ...: leaves $status, $out, $err.
run() {
  "$@" >"$out" 2>"$err" </dev/null
  status=$?
}

# expect STATUS NAME COMMAND ...
expect() {
  local wanted=$1 name=$2
  shift 2
  run "$@"
  if [ "$status" = "$wanted" ]; then pass "$name"; else fail "$name" "exit status $status, not $wanted: $*"; fi
}

# contains FILE TEXT: without starting a program, since there are thousands of these.
contains() {
  local content
  IFS= read -r -d '' content <"$1"
  [[ $content == *"$2"* ]]
}

# said STREAM NAME TEXT: the last command's stream holds this text.
said() {
  if contains "$1" "$3"; then pass "$2"; else fail "$2" "does not say: $3"; fi
}

# refused STATUS TEXT NAME COMMAND ...: this exit status, this text on standard error, nothing on standard output.
refused() {
  local wanted=$1 text=$2 name=$3
  shift 3
  run "$@"
  if [ "$status" != "$wanted" ]; then
    fail "$name" "exit status $status, not $wanted: $*"
  elif ! contains "$err" "$text"; then
    fail "$name" "does not say: $text"
  elif [ -s "$out" ]; then
    fail "$name" "printed something on standard output"
  else
    pass "$name"
  fi
}

# same NAME FILE FILE: byte for byte.
same() {
  if cmp -s "$2" "$3"; then pass "$1"; else
    diff "$2" "$3" >"$out" 2>"$err"
    fail "$1" "$2 and $3 differ"
  fi
}

# holds NAME COMMAND ...: succeeds.
holds() {
  local name=$1
  shift
  run "$@"
  if [ "$status" = 0 ]; then pass "$name"; else fail "$name" "exit status $status: $*"; fi
}

done_testing() {
  printf '1..%d\n' "$tap_count"
  [ "$tap_count" -gt 0 ] && [ "$tap_failed" = 0 ]
  exit
}
