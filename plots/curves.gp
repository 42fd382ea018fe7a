# curves.gp - curves over x in one or more panels, with bands and a label at the end of each curve.
#
#   gnuplot -d -c curves.gp PLOTS_DIR OUTPUT FORMAT DATA LAYOUT
#
# DATA and LAYOUT are written by `posbench report`; the columns are described in harness/figure_layout.c.

set encoding utf8
PLOTS = ARG1; OUTPUT = ARG2; FORMAT = ARG3; DATA = ARG4; LAYOUT = ARG5
load PLOTS."/layout.gp"
load PLOTS."/style.gp"

set border 1 linecolor rgb MUTED linewidth 1
set multiplot
do for [p=1:PANELS] {
    set lmargin at screen LEFT[p]
    set rmargin at screen RIGHT[p]
    set bmargin at screen BOTTOM[p]
    set tmargin at screen TOP[p]

    unset logscale
    if (XLOG[p] > 0) { set logscale x XLOG[p] }
    if (YLOG[p] > 0) { set logscale y YLOG[p] }
    set xrange [X0[p]:X1[p]]
    set yrange [Y0[p]:Y1[p]]

    unset label
    unset arrow
    unset object
    set label 1 TITLE[p] at screen LEFT[p], screen TOP[p] + 29.0/HEIGHT left font FONT.":Bold" textcolor rgb INK noenhanced
    set label 2 SUBTITLE[p] at screen LEFT[p], screen TOP[p] + 12.0/HEIGHT left textcolor rgb MUTED noenhanced
    set label 4 XTITLE[p] at graph 0.5, screen BOTTOM[p] - 34.0/HEIGHT center textcolor rgb MUTED noenhanced

    # Lengths met in training: a ground behind everything, and a dashed line where they end.
    if (TRAIN[p] == TRAIN[p]) {
        set object 1 rectangle from first X0[p], graph 0 to first TRAIN[p], graph 1 behind \
            fillcolor rgb SHADE fillstyle solid 1 noborder
        set arrow 1 from first TRAIN[p], graph 0 to first TRAIN[p], graph 1 nohead back \
            linecolor rgb MUTED linewidth 1 dashtype (4,4)
        share = XLOG[p] > 0 ? log(TRAIN[p] / X0[p]) / log(X1[p] / X0[p]) : (TRAIN[p] - X0[p]) / (X1[p] - X0[p])
        if (share < 0.25) {
            set label 3 "trained" at graph share / 2, graph 0.5 center rotate by 90 textcolor rgb MUTED noenhanced
        } else {
            set label 3 "trained" at graph share, graph 1 right offset character -0.8,-0.9 textcolor rgb MUTED noenhanced
        }
    }

    set xtics ()
    set ytics ()
    do for [t=1:TICS] {
        if (TIC_PANEL[t] == p) {
            if (TIC_AXIS[t] == 1) { set xtics add (TIC_TEXT[t] TIC_AT[t]) } else { set ytics add (TIC_TEXT[t] TIC_AT[t]) }
        }
    }
    set grid noxtics ytics back linecolor rgb GRID linewidth 1 linetype 1

    do for [l=1:LABELS] {
        if (LABEL_PANEL[l] == p) {
            set label 10+l LABEL_TEXT[l] at graph LABEL_X[l], graph LABEL_Y[l] left textcolor rgb LABEL_COLOUR[l] noenhanced
            if (FROM_X[l] == FROM_X[l]) {
                set arrow 10+l from graph FROM_X[l], graph FROM_Y[l] to graph LABEL_X[l]-0.01, graph LABEL_Y[l] nohead back \
                    linecolor rgb LABEL_COLOUR[l] linewidth 0.6 dashtype solid
            }
        }
    }

    # Many bands on top of each other would hide the lines.
    alpha = LAST[p] - FIRST[p] < 8 ? 0.13 : 0.06

    # Bands, then lines, then points, each with a halo of the page's colour so that crossings stay readable.
    plot for [c=FIRST[p]:LAST[p]] DATA index c using 3:5:6 with filledcurves \
             fillcolor rgb COLOUR[c] fillstyle transparent solid alpha noborder, \
         for [c=FIRST[p]:LAST[p]] DATA index c using 3:4 with lines \
             linecolor rgb COLOUR[c] linewidth (KIND[c] == 2 ? 1.2 : KIND[c] == 1 ? 1.6 : 2) dashtype DASH[c], \
         for [c=FIRST[p]:LAST[p]] DATA index c using 3:(KIND[c] == 0 ? column(4) : NaN) with points \
             pointtype POINT[c] pointsize 0.95 linecolor rgb PAGE, \
         for [c=FIRST[p]:LAST[p]] DATA index c using 3:(KIND[c] == 0 && column(7) == 0 ? column(4) : NaN) with points \
             pointtype POINT[c] pointsize 0.7 linecolor rgb COLOUR[c], \
         for [c=FIRST[p]:LAST[p]] DATA index c using 3:(KIND[c] == 0 && column(7) == 1 ? column(4) : NaN) with points \
             pointtype HOLLOW[c] pointsize 0.7 linewidth 1.4 linecolor rgb COLOUR[c]
}
unset multiplot
