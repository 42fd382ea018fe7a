# ranks.gp - mean ranks: a dot on a thick pale interval for each method, its value at the right. From the best rank on
# a ground as wide as the critical difference, with a ruler above it.
#
#   gnuplot -d -c ranks.gp PLOTS_DIR OUTPUT FORMAT DATA LAYOUT
#
# DATA: method, row, rank, low, high, colour, point, text, reciprocal, critical_end, critical (harness/report_charts.c).
# The last two stand in the first row, that of the best; NaN and empty where there is no critical difference.

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
set label 3 XTITLE[1] at graph 0.5, screen BOTTOM[1] - 36.0/HEIGHT center textcolor rgb MUTED noenhanced
set xtics 1 format "%g" textcolor rgb MUTED
set ytics () textcolor rgb INK
CRITICAL = 0 # whether there is one
set table $nothing2
plot DATA skip 1 every ::0::0 using (column(10) == column(10) ? (CRITICAL = 1, FROM = column(3), TO = column(10), \
         WORDS = strcol(11), 0) : 0)
unset table
if (CRITICAL) {
    set object 1 rectangle from first FROM, graph 0 to first TO, graph 1 behind fillcolor rgb SHADE \
        fillstyle solid 1 noborder
    RULER = TOP[1] + 9.0/HEIGHT # without an end where the axis ends first
    if (TO < X1[1]) {
        set arrow 1 from first FROM, screen RULER to first TO, screen RULER heads size screen 0.005,90 \
            linecolor rgb INK linewidth 1.4
    } else {
        set arrow 1 from first FROM, screen RULER to first TO, screen RULER backhead size screen 0.005,90 \
            linecolor rgb INK linewidth 1.4
    }
    set label 4 WORDS at first FROM, screen TOP[1] + 22.0/HEIGHT left textcolor rgb INK noenhanced
}
set grid xtics noytics back linecolor rgb GRID linewidth 1 linetype 1

plot DATA skip 1 using 4:2:($5-$4):(0):(int($6) + 0xb0000000) with vectors nohead linewidth 8 linecolor rgb variable, \
     DATA skip 1 using 3:2:yticlabels(1) with points pointtype 7 pointsize 1.5 linecolor rgb PAGE, \
     DATA skip 1 using 3:2:7:6 with points pointtype variable pointsize 1.1 linecolor rgb variable, \
     DATA skip 1 using (X1[1]):2:8 with labels left offset 1,0 textcolor rgb INK noenhanced
