#!/usr/bin/env bash
# claims.sh POSBENCH JSON_GET: published statements from files to verdicts, with runs where they need some.
. "$(dirname "$0")/tap.sh"
posbench=$(realpath "$1") json_get=$(realpath "$2")
cd "$tmp" || exit 1

# ---- the bundled ones

expect 0 "all claims" "$posbench" claims
said "$out" "formulas need no runs" "C6             reproduced "
said "$out" "runs that are not there" "C12            not run "
said "$out" "a count" " not run"
expect 0 "one claim" "$posbench" claims C8
said "$out" "its published number" "Published: Buckets 16 to 31 begin at 16, 19, 21"
said "$out" "our number" "ours: 16, 10, 5, 0; theirs: 16, 10, 5, 0"
expect 0 "a file of claims by its name" "$posbench" claims huang
said "$out" "all of it" "4 claims: 4 not run"
refused 2 "no claim 'C121'; did you mean 'C12'?" "a claim that is not there" "$posbench" claims C121
refused 2 "unknown option '--resluts'; did you mean '--results'?" "a misspelt option" "$posbench" claims --resluts x
refused 2 "--run needs the claims" "--run of everything" "$posbench" claims --run
refused 2 "--jobs is for --run" "--jobs alone" "$posbench" claims --jobs 2
expect 0 "measurements" "$posbench" claims --measurements
said "$out" "one of them" "rotation_bound"

# ---- one that cannot be tested

mkdir none
cat >none/none.yaml <<'EOF'
title: None
claims:
  - {id: N1, title: A thousand layers, statement: They help., source: nobody, published: 0, untestable: nobody has the time}
EOF
expect 0 "what cannot be tested" "$posbench" claims --from none
said "$out" "its verdict" "N1             not testable "
said "$out" "its count" "1 claim: 1 not testable"

# ---- one of our own, with runs

mkdir own
cat >own/mine.yaml <<'EOF'
title: Mine
source: nobody
grid:
  encoding: [alibi, rope]
  task: repeat_copy
  seeds: 2
  model: {width: 16, layers: 1, heads: 2}
  train: {len: 8, steps: 4, batch: 4, check_every: 0}
  eval: {ratios: [1, 2], items: 4}
claims:
  - id: M1
    title: Four steps are too few
    statement: Nothing is learned in four steps.
    published: 0
    seeds: 2
    refuted: anything that is
    rule:
      - {of: {encoding: alibi}, metric: exact_match, at: 1x, most: 0.9, theirs: 0}
EOF
expect 0 "before its runs" "$posbench" claims M1 --from own
said "$out" "it is not run" "Verdict: 0 of 2 runs are there"
expect 0 "its runs" "$posbench" claims --run M1 --from own --jobs 1
said "$out" "a verdict" "M1             reproduced"
if [ "$(find results/claims/mine/runs -name '*.json' | wc -l)" = 2 ]; then pass "only what it needs was run"; else
  fail "only what it needs was run" "$(find results -name '*.json')"
fi
expect 0 "as JSON" "$posbench" claims M1 --from own --format json
cp "$out" first.json
if [ "$("$json_get" first.json schema)" = posbench-claims/1 ]; then pass "its schema"; else fail "its schema"; fi
expect 0 "again" "$posbench" claims --run M1 --from own --jobs 1 --format json
same "the same verdict, nothing done again" first.json "$out"
mkdir elsewhere && mv results/claims/mine elsewhere/copy
expect 0 "the records moved away" "$posbench" claims M1 --from own
said "$out" "it is not run again" "M1             not run"
expect 0 "from a folder that is named" "$posbench" claims M1 --from own --results elsewhere/copy --format json
same "the same verdict from there" first.json "$out"
expect 0 "as Markdown" "$posbench" claims M1 --from own --results elsewhere/copy --format markdown
said "$out" "a table" "| M1 | **reproduced** | Four steps are too few |"
expect 0 "a page" "$posbench" claims M1 --from own --results elsewhere/copy --out page
for file in report.html report.md claims.json; do
  if [ -s "page/$file" ]; then pass "page/$file"; else fail "page/$file"; fi
done
if [ ! -e page/sources.bib ]; then pass "nothing cited, no bibliography"; else fail "nothing cited, no bibliography"; fi

# ---- the works that are cited

mkdir cited && sed 's/^source: .*/source: Somebody 2020\ncites: [somebody2020paper, press2022train]/' own/mine.yaml >cited/mine.yaml
printf '@misc{somebody2020paper, title = {A Paper}, author = {Some, Body}, year = {2020}}\n' >cited/sources.bib
expect 0 "a page that cites" "$posbench" claims M1 --from cited --results elsewhere/copy --out page
said page/sources.bib "an entry of its own" "@misc{somebody2020paper,"
said page/sources.bib "one that the program has" "@inproceedings{press2022train,"
said page/report.md "keys behind the source" "[somebody2020paper,press2022train](<sources.bib>)"
expect 0 "a page that does not" "$posbench" claims M1 --from own --results elsewhere/copy --out page
if [ ! -e page/sources.bib ]; then pass "the old one is gone"; else fail "the old one is gone"; fi
sed -i 's/press2022train/press2020train/' cited/mine.yaml
refused 2 "cited/mine.yaml:3:28: error: cites: unknown work 'press2020train'; did you mean 'press2022train'?" "a work that is not there" \
  "$posbench" claims --from cited

# ---- what records hold besides: tests at longer lengths after training, and what positions met

cat >own/longer.yaml <<'EOF'
title: Longer
source: nobody
grid:
  encoding: rope
  task: passkey(digits=2)
  seeds: 2
  model: {width: 16, layers: 1, heads: 2}
  train: {len: 8, steps: 4, batch: 4, check_every: 0, positions: true}
  eval: {ratios: [1], items: 4}
  extend: {methods: [none, interpolate], factors: [2], steps: [0, 2], task_options: [depth=0]}
claims:
  - id: L1
    title: Six steps are too few
    statement: Nothing is learned in six steps.
    published: 0
    seeds: 2
    refuted: anything that is
    rule:
      - {of: {encoding: rope}, after: {factor: 2, method: interpolate, steps: 2, task_options: depth=0}, metric: exact_match,
         at: 2x, most: 0.9}
      - {of: {encoding: rope, after: {steps: 2}}, less: {encoding: rope, after: {steps: 0}}, after: {factor: 2, method: none},
         metric: exact_match, at: 1x, most: 0.9}
  - id: L2
    title: Late positions meet a gradient
    statement: They do.
    published: 0
    seeds: 2
    refuted: none at all
    rule:
      - {of: {encoding: rope}, exposure: gradient, least: 0}
EOF
expect 0 "runs that go on and record positions" "$posbench" claims --run longer --from own --jobs 1
said "$out" "a verdict on what follows training" "L1             reproduced"
said "$out" "a verdict on positions" "L2             reproduced"
for record in results/claims/longer/runs/*.json; do sed -i 's/"extension":/"extension_of_old":/' "$record"; done
expect 0 "records without the section" "$posbench" claims L1 --from own
said "$out" "what is missing is told" "2 of 2 records have no \"extension\""
mkdir worse && sed 's/interpolate, steps: 2/interpolat, steps: 3/' own/longer.yaml >worse/longer.yaml
refused 2 "no method interpolat: extend.methods is interpolate, none; did you mean 'interpolate'?" "a misspelt method" \
  "$posbench" claims --from worse
refused 2 "no steps 3: extend.steps is 0, 2" "steps that no run has" "$posbench" claims --from worse

# ---- faults

sed 's/metric: exact_match/metric: exact/; s/published/pubished/' own/mine.yaml >bad.yaml
mkdir bad && mv bad.yaml bad/
refused 2 "bad/bad.yaml:18:41: error: metric: unknown score 'exact'" "a score that is not there" "$posbench" claims --from bad
refused 2 "unknown key 'pubished' in a claim; did you mean 'published'?" "a misspelt key in the same go" "$posbench" claims --from bad
refused 3 "nowhere: No such file" "a folder that is not there" "$posbench" claims --from nowhere
echo '{' >elsewhere/copy/runs/bad.json
expect 3 "a record that cannot be read" "$posbench" claims M1 --from own --results elsewhere/copy
said "$out" "the verdict is told all the same" "M1             reproduced"
said "$err" "the record too" "elsewhere/copy/runs/bad.json"

done_testing
