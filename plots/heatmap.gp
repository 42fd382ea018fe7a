# heatmap.gp - a square matrix of values between -1 and 1, row 0 on top.
#
#   gnuplot -d -c heatmap.gp PLOTS_DIR OUTPUT FORMAT DATA LAYOUT
#
# DATA: the matrix, a line for each row, without a heading; the axes of LAYOUT tell how many positions a cell is wide.

set encoding utf8
PLOTS = ARG1; OUTPUT = ARG2; FORMAT = ARG3; DATA = ARG4; LAYOUT = ARG5
load PLOTS."/layout.gp"
load PLOTS."/style.gp"

stats DATA matrix nooutput
STEP = X1[1] / STATS_size_x

set lmargin at screen LEFT[1]
set rmargin at screen RIGHT[1]
set bmargin at screen BOTTOM[1]
set tmargin at screen TOP[1]
set xrange [-0.5*STEP : X1[1] - 0.5*STEP]
set yrange [Y1[1] - 0.5*STEP : -0.5*STEP]
set label 1 TITLE[1] at screen 10.0/WIDTH, screen 1 - 18.0/HEIGHT left font FONT.":Bold" textcolor rgb INK noenhanced
set label 2 SUBTITLE[1] at screen 10.0/WIDTH, screen 1 - 36.0/HEIGHT left textcolor rgb MUTED noenhanced
set label 3 XTITLE[1] at graph 0.5, screen BOTTOM[1] - 38.0/HEIGHT center textcolor rgb MUTED noenhanced
set xtics autofreq format "%g" textcolor rgb MUTED
set ytics autofreq format "%g" textcolor rgb MUTED
set palette maxcolors 255 defined (-1 "#2166ac", -0.5 "#8fc0dd", 0 "#ffffff", 0.5 "#f0a383", 1 "#b2182b")
set cbrange [-1:1]
set cbtics (-1, -0.5, 0, 0.5, 1) format "%g" textcolor rgb MUTED
set colorbox user origin screen RIGHT[1] + 18.0/WIDTH, screen BOTTOM[1] \
    size screen 14.0/WIDTH, screen TOP[1] - BOTTOM[1] noborder

plot DATA matrix using ($1*STEP):($2*STEP):3 with image
