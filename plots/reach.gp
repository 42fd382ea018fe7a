# reach.gp - a heat table: one row for each method, one column for each task, the value in the cell.
#
#   gnuplot -d -c reach.gp PLOTS_DIR OUTPUT FORMAT DATA LAYOUT
#
# DATA: method, task, column, row, ratio, colour, text_colour, text (harness/report_charts.c). Its second block, where
# there is one, has the headings above rows that belong together: words in the place of the method, and a row.

set encoding utf8
PLOTS = ARG1; OUTPUT = ARG2; FORMAT = ARG3; DATA = ARG4; LAYOUT = ARG5
load PLOTS."/layout.gp"
load PLOTS."/style.gp"

set lmargin at screen LEFT[1]
set rmargin at screen RIGHT[1]
set bmargin at screen BOTTOM[1]
set tmargin at screen TOP[1]
set xrange [X0[1]:X1[1]]
set yrange [Y0[1]:Y1[1]]
set label 1 TITLE[1] at screen 10.0/WIDTH, screen 1 - 18.0/HEIGHT left font FONT.":Bold" textcolor rgb INK noenhanced
set label 2 SUBTITLE[1] at screen 10.0/WIDTH, screen 1 - 36.0/HEIGHT left textcolor rgb MUTED noenhanced
set x2range [X0[1]:X1[1]]
set x2tics () offset 0,-0.3 textcolor rgb INK
set ytics () textcolor rgb INK
unset xtics

array HEADING[200]; array HEADING_ROW[200]
HEADINGS = 0
stats DATA using 0 nooutput
if (STATS_blocks > 1) {
    set table $headings
    plot DATA index 1 using (n = HEADINGS + 1, HEADINGS = n, HEADING[n] = strcol(1), HEADING_ROW[n] = column(4), 0)
    unset table
}
do for [h=1:HEADINGS] {
    set label 10+h HEADING[h] at screen 10.0/WIDTH, first HEADING_ROW[h] - 0.15 left textcolor rgb MUTED noenhanced
}

plot DATA index 0 skip 1 using 3:4:($3-0.485):($3+0.485):($4-0.46):($4+0.46):6:x2ticlabels(2):yticlabels(1) with boxxyerror \
         linecolor rgb variable fillstyle solid 1 noborder, \
     DATA index 0 skip 1 using 3:4:8:7 with labels textcolor rgb variable noenhanced
