# style.gp - what all figures share. Loaded first; expects OUTPUT and FORMAT, WIDTH and HEIGHT in px.
# The colours are those of harness/palette.h: pages recolour them for dark themes, so a script uses no others.

INK   = "#24292f"
MUTED = "#6e7781"
GRID  = "#e6e8eb"
SHADE = "#f2f4f7"
PAGE  = "#ffffff"
FONT  = "DejaVu Sans"

if (FORMAT eq "svg") {
    set terminal svg size WIDTH,HEIGHT fixed font FONT.",12" name "figure" noenhanced
} else { if (FORMAT eq "pdf") {
    set terminal pdfcairo size WIDTH/72.0,HEIGHT/72.0 font FONT.",12" noenhanced
} else {
    set terminal pngcairo size 2*WIDTH,2*HEIGHT font FONT.",9" fontscale 2 linewidth 2 pointscale 2 noenhanced
}}
set output OUTPUT

set datafile separator "\t"
set datafile commentschars ""
set border 0
set tics nomirror scale 0 textcolor rgb MUTED
unset key
