# count.awk - the outcome of `meson test`, one line a test: "passed|failed|skipped BUILD: PROGRAM: TEST".
#
#   awk -v build=NAME -f count.awk RS='<' meson-logs/testlog.junit.xml RS='\n' meson-logs/testlog.json
#
# In the first file each named test of a program is a testcase; split at "<", a record is a tag. The second has one object
# a line and program: a program that timed out, crashed, did not keep to its plan or was told on by its wrapper need not
# have a testcase that failed, and is counted as one.

function attribute(tag, name,    text) {
    if (!match(tag, " " name "=\"[^\"]*\""))
        return ""
    text = substr(tag, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
    gsub(/&lt;/, "<", text)
    gsub(/&gt;/, ">", text)
    gsub(/&quot;/, "\"", text)
    gsub(/&amp;/, "\\&", text)
    return text
}

function finish() {
    if (outcome == "")
        return
    print outcome " " build ": " program (test == "" ? "" : ": " test)
    if (outcome == "failed")
        failing[program]++
    outcome = ""
}

FNR == 1 { files++ }

files == 1 && /^testsuite / { suite = attribute($0, "name") }

files == 1 && /^testcase / {
    finish()
    outcome = "passed"
    test = attribute($0, "name")
    program = suite
    if (sub(/^posbench\./, "", program) == 0) { # a program without named tests stands in the project's own suite
        program = test
        test = ""
    }
}

files == 1 && /^(failure|error)/ { outcome = "failed" }
files == 1 && /^skipped/ && outcome == "passed" { outcome = "skipped" }
files == 1 && /^\/testsuite>/ { finish() }

files == 2 && match($0, /^\{"name": "[^"]*"/) {
    program = substr($0, 11, RLENGTH - 11)
    if (!match($0, /", "result": "[A-Z]*", "starttime"/))
        next
    result = substr($0, RSTART + 14, RLENGTH - 28)
    if (result !~ /^(OK|SKIP|EXPECTEDFAIL)$/ && !failing[program])
        print "failed " build ": " program ": " result
}
