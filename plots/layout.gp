# layout.gp - reads NAME.layout.tsv (LAYOUT) into arrays; harness/figure_layout.c says what its rows mean.

MOST = 4000
array LEFT[MOST];  array RIGHT[MOST];  array BOTTOM[MOST]; array TOP[MOST]
array X0[MOST];    array X1[MOST];     array Y0[MOST];     array Y1[MOST]
array XLOG[MOST];  array YLOG[MOST];   array TRAIN[MOST]
array FIRST[MOST]; array LAST[MOST]
array TITLE[MOST]; array SUBTITLE[MOST]; array XTITLE[MOST]
array COLOUR[MOST]; array DASH[MOST]; array POINT[MOST]; array HOLLOW[MOST]; array KIND[MOST]
array TIC_PANEL[MOST]; array TIC_AXIS[MOST]; array TIC_AT[MOST]; array TIC_TEXT[MOST]
array LABEL_PANEL[MOST]; array LABEL_X[MOST]; array LABEL_Y[MOST]; array FROM_X[MOST]; array FROM_Y[MOST]
array LABEL_COLOUR[MOST]; array LABEL_TEXT[MOST]
PANELS = 0; CURVES = 0; TICS = 0; LABELS = 0

set datafile separator "\t"
set datafile commentschars ""
set table $nothing
plot LAYOUT using (strcol(1) eq "figure" ? (WIDTH = int(column(2)), HEIGHT = int(column(3)), 0) : 0), \
     LAYOUT using (strcol(1) eq "panel" ? (n = PANELS + 1, PANELS = n, \
         LEFT[n] = column(2), RIGHT[n] = column(3), BOTTOM[n] = column(4), TOP[n] = column(5), \
         X0[n] = column(6), X1[n] = column(7), Y0[n] = column(8), Y1[n] = column(9), \
         XLOG[n] = column(10), YLOG[n] = column(11), TRAIN[n] = column(12), \
         FIRST[n] = int(column(13)), LAST[n] = int(column(14)), \
         TITLE[n] = strcol(15), SUBTITLE[n] = strcol(16), XTITLE[n] = strcol(17), 0) : 0), \
     LAYOUT using (strcol(1) eq "curve" ? (n = CURVES + 1, CURVES = n, \
         COLOUR[n] = int(column(2)), DASH[n] = int(column(3)), POINT[n] = int(column(4)), HOLLOW[n] = int(column(5)), \
         KIND[n] = int(column(6)), 0) : 0), \
     LAYOUT using (strcol(1) eq "tic" ? (n = TICS + 1, TICS = n, \
         TIC_PANEL[n] = int(column(2)), TIC_AXIS[n] = int(column(3)), TIC_AT[n] = column(4), TIC_TEXT[n] = strcol(5), 0) : 0), \
     LAYOUT using (strcol(1) eq "label" ? (n = LABELS + 1, LABELS = n, \
         LABEL_PANEL[n] = int(column(2)), LABEL_X[n] = column(3), LABEL_Y[n] = column(4), \
         FROM_X[n] = column(5), FROM_Y[n] = column(6), LABEL_COLOUR[n] = int(column(7)), LABEL_TEXT[n] = strcol(8), 0) : 0)
unset table
