/* The softmax that sees a tile of keys at a time, against sums in double over whole rows. */
#include <criterion/criterion.h>
#include <math.h>

#include "rng.h"
#include "softmax.h"

enum { ROWS = 9, KEYS = 150, STRIDE = KEYS + SOFTMAX_ROOM, DIM = 5, PAST = 7 };

typedef struct softmax_case {
    int rows, keys, causal, diagonal, biased, tile;
    real score[ROWS][KEYS], bias[ROWS][STRIDE], value[KEYS][DIM], gradient[ROWS][KEYS];
    /* whole rows, in double */
    double weight[ROWS][KEYS], out[ROWS][DIM], mean[ROWS];
} softmax_case;

static int softmax_case_sees(const softmax_case *c, int r, int j)
{
    return !c->causal || j <= c->diagonal + r;
}

static double softmax_case_score(const softmax_case *c, int r, int j)
{
    return !softmax_case_sees(c, r, j) ? -INFINITY : (double)c->score[r][j] + (c->biased ? (double)c->bias[r][j] : 0);
}

/* Scores of up to `scale`; one in five keys is hidden by its bias, and in every second case a whole tile at the row's
 * begin, but never the row's own key, which a causal row sees last. */
static void softmax_case_draw(softmax_case *c, rng *r)
{
    double scale = rng_below(r, 2) ? 2 : 60;
    *c = (softmax_case){ .rows = 1 + (int)rng_below(r, ROWS), .causal = (int)rng_below(r, 2), .biased = (int)rng_below(r, 2),
                         .tile = 32 * (1 + (int)rng_below(r, 3)) };
    c->keys = c->rows + (int)rng_below(r, (uint32_t)(KEYS - c->rows));
    c->diagonal = c->keys - c->rows;
    int hidden = (int)rng_below(r, 2) * c->tile;
    for (int i = 0; i < c->rows; i++)
        for (int j = 0; j < c->keys; j++) {
            int own = j == (c->causal ? c->diagonal + i : c->keys - 1);
            c->score[i][j] = (real)(scale * (2 * rng_uniform(r) - 1));
            c->gradient[i][j] = (real)rng_normal(r);
            c->bias[i][j] = !own && (j < hidden || rng_below(r, 5) == 0) ? -INFINITY : (real)rng_normal(r);
        }
    for (int j = 0; j < c->keys; j++)
        for (int d = 0; d < DIM; d++)
            c->value[j][d] = (real)rng_normal(r);
}

static void softmax_case_solve(softmax_case *c)
{
    for (int i = 0; i < c->rows; i++) {
        double top = -INFINITY, sum = 0;
        for (int j = 0; j < c->keys; j++)
            top = fmax(top, softmax_case_score(c, i, j));
        for (int j = 0; j < c->keys; j++)
            sum += c->weight[i][j] = exp(softmax_case_score(c, i, j) - top);
        for (int j = 0; j < c->keys; j++) {
            c->weight[i][j] /= sum;
            c->mean[i] += c->weight[i][j] * (double)c->gradient[i][j];
            for (int d = 0; d < DIM; d++)
                c->out[i][d] += c->weight[i][j] * (double)c->value[j][d];
        }
    }
}

/* The tile's scores as a product leaves them: anything where nothing is visible. */
static softmax_tile softmax_case_tile(const softmax_case *c, int first, real (*s)[STRIDE])
{
    int keys = c->keys - first < c->tile ? c->keys - first : c->tile;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < STRIDE; j++)
            s[i][j] = i < c->rows && j < keys && softmax_case_sees(c, i, first + j) ? c->score[i][first + j] : (real)NAN;
    return (softmax_tile){ .rows = c->rows, .keys = keys, .stride = STRIDE, .causal = c->causal,
                           .diagonal = c->diagonal - first, .past = PAST, .s = s[0],
                           .bias = c->biased ? &c->bias[0][first] : NULL, .bias_step = STRIDE };
}

/* What products read of a row: what it sees and PAST entries more, as far as there are keys. */
static int softmax_case_read(const softmax_case *c, int r, int first, int keys)
{
    int seen = c->causal ? c->diagonal - first + r + 1 : keys;
    seen = seen < 0 ? 0 : seen;
    return seen + PAST < keys ? seen + PAST : keys;
}

static void softmax_case_forward(const softmax_case *c, softmax_row *row, real (*o)[DIM])
{
    static real s[ROWS][STRIDE];
    memset(o, 0, sizeof(real) * ROWS * DIM);
    softmax_begin(row, c->rows);
    for (int first = 0; first < c->keys; first += c->tile) {
        softmax_tile t = softmax_case_tile(c, first, s);
        softmax_add(&t, row, first > 0 ? o[0] : NULL, DIM, DIM);
        for (int i = 0; i < c->rows; i++)
            for (int j = 0; j < softmax_case_read(c, i, first, t.keys); j++)
                for (int d = 0; d < DIM; d++)
                    o[i][d] += s[i][j] * c->value[first + j][d];
    }
    softmax_end(row, c->rows, o[0], DIM, DIM);
    for (int i = 0; i < c->rows; i++)
        for (int d = 0; d < DIM; d++) {
            cr_assert(fabs((double)o[i][d] - c->out[i][d]) < 3e-6, "row %d: %.9g, not %.9g", i, (double)o[i][d], c->out[i][d]);
        }
}

static void softmax_case_backward(const softmax_case *c, const softmax_row *row)
{
    static real s[ROWS][STRIDE], ds[ROWS][STRIDE];
    real mean[ROWS];
    for (int i = 0; i < c->rows; i++)
        mean[i] = (real)c->mean[i];
    for (int first = 0; first < c->keys; first += c->tile) {
        softmax_tile t = softmax_case_tile(c, first, s);
        for (int i = 0; i < c->rows; i++)
            for (int j = 0; j < STRIDE; j++)
                ds[i][j] = isnan((double)s[i][j]) ? (real)NAN : c->gradient[i][first + j];
        softmax_gradient(&t, row, mean, ds[0]);
        for (int i = 0; i < c->rows; i++)
            for (int j = 0; j < softmax_case_read(c, i, first, t.keys); j++) {
                double weight = c->weight[i][first + j], slope = weight * ((double)c->gradient[i][first + j] - c->mean[i]);
                cr_assert(fabs((double)s[i][j] - weight) < 3e-6, "weight %d %d", i, first + j);
                cr_assert(fabs((double)ds[i][j] - slope) < 1e-5, "gradient %d %d", i, first + j);
                cr_assert(weight > 0 || (s[i][j] == 0 && ds[i][j] == 0), "%d %d is hidden", i, first + j);
            }
    }
}

Test(softmax, tiles_add_up_to_whole_rows)
{
    rng r = rng_stream(5, RNG_TEST, 0, 0);
    static softmax_case c;
    for (int round = 0; round < 400; round++) {
        softmax_row row[ROWS];
        real o[ROWS][DIM];
        softmax_case_draw(&c, &r);
        softmax_case_solve(&c);
        softmax_case_forward(&c, row, o);
        softmax_case_backward(&c, row);
    }
}

/* Scores that grow from tile to tile by more than an exponential can hold: what came before vanishes, nothing overflows. */
Test(softmax, a_later_tile_may_outweigh_all_before)
{
    static real s[1][STRIDE];
    real o[1][DIM] = { { 1, 1, 1, 1, 1 } };
    softmax_row row;
    softmax_begin(&row, 1);
    for (int tile = 0; tile < 3; tile++) {
        softmax_tile t = { .rows = 1, .keys = 32, .stride = STRIDE, .s = s[0] };
        for (int j = 0; j < 32; j++)
            s[0][j] = (real)(1000 * tile);
        softmax_add(&t, &row, tile > 0 ? o[0] : NULL, DIM, DIM);
        cr_assert(row.top == 1000 * tile);
        cr_assert(row.inverse == 32, "%g", (double)row.inverse);
        cr_assert(s[0][0] == 1 && s[0][31] == 1);
    }
    cr_assert(o[0][0] == 0 && o[0][DIM - 1] == 0);
    softmax_end(&row, 1, o[0], DIM, DIM);
    cr_assert(row.inverse == (real)(1 / 32.));
}
