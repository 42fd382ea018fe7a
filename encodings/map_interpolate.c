/* map_interpolate.c - squeezes long sequences into the positions that training has met. */
#include "pe.h"

typedef struct interpolate_options {
    double factor;
} interpolate_options;

static const pe_option interpolate_rows[] = {
    {"factor", PE_OPTION_REAL, PE_OFFSET(interpolate_options, factor), "auto", 1, 1e6, 1, NULL,
     "what positions are divided by; auto: by the length, so that the last token stands where the last one of "
     "training stood"},
    {0},
};

static void interpolate_place(const pe_map_context *c, double *pos)
{
    const interpolate_options *o = c->options;
    /* total_len, not len: while decoding, the tokens so far must stand where they will stand in the end. */
    double last = c->total_len - 1, target = fmin(c->train_len - 1, c->last_position);
    int is_auto = o->factor == PE_AUTO_REAL, fits = last <= target;
    for (int t = 0; t < c->len; t++)
        pos[t] = !is_auto ? t / o->factor : fits ? t : t * target / last; /* exact at the end: no table is left */
}

static const char *const interpolate_examples[] = {"factor=2", NULL};

const pe_map pe_map_interpolate = {
    PE_MAP_HEAD,
    .name = "interpolate",
    .title = "Position interpolation",
    .source = "Chen et al. 2023, Extending Context Window of Large Language Models via Position Interpolation, eq. 4",
    .formula = "pos(t) = t / factor; auto: factor = max(1, (total_len-1) / (train_len-1))",
    .notes = "The paper divides by total_len / train_len; the ends are matched instead (last token to last position "
             "of training), so that a table of train_len rows suffices. Up to the training length auto changes "
             "nothing, in training and in evaluation. A fixed factor divides at every length.",
    .options = interpolate_rows,
    .options_size = sizeof(interpolate_options),
    .examples = interpolate_examples,
    .gives_meaning = 1,
    .place = interpolate_place,
    .extension = "factor={ends}",
    .bibtex = "@misc{chen2023extending, title = {Extending Context Window of Large Language Models via Positional "
              "Interpolation}, author = {Chen, Shouyuan and Wong, Sherman and Chen, Liangjian and Tian, Yuandong}, "
              "year = {2023}, eprint = {2306.15595}, archiveprefix = {arXiv}}",
};
