/* golden_randomized.c - operations of randomized.json: encodings at positions that were drawn. */
#include "golden_case.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ the map */

static int randomized_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Numbers with which a map that draws by Floyd's method draws this set: its i-th number chooses among the positions 0
 * .. last = span - count + i. A member `last` is chosen then; otherwise one of those below span - count, of which there
 * are as many as such turns. sorted[count]: whole, different, below span. */
static double *randomized_numbers(golden_case *c, const double *sorted, int count, int span)
{
    double *numbers = golden_memory(c, (size_t)count, sizeof *numbers);
    int low = 0, high = 0;
    while (high < count && sorted[high] < span - count)
        high++;
    for (int i = 0; numbers && i < count; i++) {
        int last = span - count + i, is_member = high < count && sorted[high] == last;
        double member = is_member ? sorted[high++] : sorted[low++];
        numbers[i] = (member + 0.5) / (last + 1);
    }
    return numbers;
}

static int randomized_is_set(const double *sorted, int count, int span)
{
    for (int i = 0; i < count; i++)
        if (sorted[i] != floor(sorted[i]) || sorted[i] < 0 || sorted[i] >= span || (i && sorted[i] == sorted[i - 1]))
            return 0;
    return 1;
}

static void randomized_run_map(golden_case *c, const pe_stack *stack, int count, const double *numbers, double *pos)
{
    pe_map_context m = {.options = stack->map_options,
                        .len = count,
                        .total_len = count,
                        .train_len = count,
                        .training = 1,
                        .last_position = INFINITY,
                        .uniform = numbers};
    size_t draws = 0, scratch = 0;
    stack->map->needs(&m, &draws, &scratch);
    m.scratch = golden_memory(c, scratch, sizeof *m.scratch);
    if (draws != (size_t)count)
        golden_fail(c, "the map wants %zu numbers for %d positions", draws, count);
    else if (m.scratch)
        stack->map->place(&m, pos);
}

/* Where the map puts the tokens when it draws in.sampled; NULL when it cannot. */
static double *randomized_positions_of(golden_case *c, const golden_array *sampled)
{
    int count = sampled->shape[0], span = golden_whole(c, "max_len");
    double *sorted = golden_memory(c, (size_t)count, sizeof *sorted);
    double *pos = golden_memory(c, (size_t)count, sizeof *pos);
    char text[64];
    pe_stack stack;
    pe_shape shape = golden_shape(1, 2, 0);
    if (!sorted || !pos || c->outcome != GOLDEN_PASSED)
        return NULL;
    memcpy(sorted, sampled->data, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, randomized_order);
    if (count < 1 || span > 1000000 || !randomized_is_set(sorted, count, span)) {
        golden_skip(c, "in.sampled is no set of whole numbers below max_len");
        return NULL;
    }
    double *numbers = randomized_numbers(c, sorted, count, span);
    snprintf(text, sizeof text, "nope@random(span=%d)", span);
    if (!numbers || golden_stack(c, text, &shape, &stack) < 0)
        return NULL;
    randomized_run_map(c, &stack, count, numbers, pos);
    stack_free(&stack);
    return pos;
}

/* ------------------------------------------------------------------------------------------------ at those positions
 */

static refhost *randomized_host(golden_case *c, const char *text, const pe_shape *shape, double scale, int len,
                                const double *pos, pe_stack *stack)
{
    refhost_settings settings = {.shape = *shape, .len = len, .pos = pos, .scale = scale, .tile_rows = 2, .pad = 1};
    if (golden_stack(c, text, shape, stack) < 0)
        return NULL;
    refhost *h = refhost_new(stack, &settings, c->e);
    if (!h)
        stack_free(stack);
    return h;
}

static void randomized_compare(golden_case *c, const char *name, const real *got, size_t count,
                               const unsigned char *hidden)
{
    double *values = golden_memory(c, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = (double)got[i];
    golden_compare(c, name, values, count, hidden);
}

static void randomized_sinusoid(golden_case *c, int width, int len, const double *pos)
{
    pe_stack stack;
    pe_shape shape = golden_shape(1, width, 0);
    refhost *h = randomized_host(c, "sinusoidal(layout=concat)", &shape, 0, len, pos, &stack);
    const refhost_input nothing = {.x = NULL};
    if (!h)
        return;
    randomized_compare(c, "sinusoid_concat", refhost_forward(h, &nothing).x, (size_t)len * (size_t)width, NULL);
    refhost_free(h);
    stack_free(&stack);
}

/* q, k: [len][width], of one head. */
static void randomized_rope(golden_case *c, int width, double scale, int len, const double *pos)
{
    const golden_array *q = golden_in(c, "q", 2), *k = golden_in(c, "k", 2);
    pe_stack stack;
    if (!q || !k)
        return;
    if (q->shape[0] != len || q->shape[1] != width || k->shape[0] != len || k->shape[1] != width) {
        golden_skip(c, "in.q and in.k do not fit d_model and the positions");
        return;
    }
    real *values = golden_memory(c, 2 * q->count, sizeof *values);
    pe_shape shape = golden_shape(1, width, 0);
    refhost *h = values ? randomized_host(c, "rope(layout=interleaved)", &shape, scale, len, pos, &stack) : NULL;
    if (!h)
        return;
    for (size_t i = 0; i < q->count; i++) {
        values[i] = (real)q->data[i];
        values[q->count + i] = (real)k->data[i];
    }
    const refhost_input in = {.q = values, .k = values + q->count};
    randomized_compare(c, "rope_interleaved_scores", refhost_forward(h, &in).logits, (size_t)len * (size_t)len, NULL);
    refhost_free(h);
    stack_free(&stack);
}

static void randomized_alibi_causal(golden_case *c, int heads, int len, const double *pos)
{
    unsigned char *hidden = golden_memory(c, (size_t)(heads > 0 ? heads : 0) * (size_t)len * (size_t)len, 1);
    pe_stack stack;
    pe_shape shape = golden_shape(heads, 2, 1);
    refhost *h = hidden ? randomized_host(c, "alibi", &shape, 0, len, pos, &stack) : NULL;
    const refhost_input nothing = {.x = NULL};
    if (!h)
        return;
    size_t count = (size_t)heads * (size_t)len * (size_t)len;
    for (size_t i = 0; i < count; i++)
        hidden[i] = i % (size_t)len > i / (size_t)len % (size_t)len; /* behind the causal limit */
    randomized_compare(c, "alibi_causal", refhost_forward(h, &nothing).bias, count, hidden);
    refhost_free(h);
    stack_free(&stack);
}

static void randomized_positions(golden_case *c)
{
    const golden_array *sampled = golden_in(c, "sampled", 1);
    int width = golden_whole(c, "d_model"), heads = golden_whole_or(c, "heads", 1);
    double scale = golden_number(c, "scale", 1);
    if (c->variant[0] && strcmp(c->variant, "positions") != 0)
        golden_skip(c, "randomised positions have no variant '%s'", c->variant);
    double *pos = sampled ? randomized_positions_of(c, sampled) : NULL;
    if (!pos)
        return;
    int len = sampled->shape[0];
    golden_compare_exact(c, "sorted", pos, (size_t)len, NULL, NULL, NULL);
    if (golden_has_out(c, "sinusoid_concat"))
        randomized_sinusoid(c, width, len, pos);
    if (golden_has_out(c, "rope_interleaved_scores"))
        randomized_rope(c, width, scale, len, pos);
    if (golden_has_out(c, "alibi_causal"))
        randomized_alibi_causal(c, heads, len, pos);
    golden_remark(c, "the map was handed the numbers with which it draws in.sampled");
}

/* ------------------------------------------------------------------------------------------------ drawn distances */

/* The offset to neighbour number n (from 1) on one side; NAN where none is listed. */
static double randomized_offset(const golden_array *offsets, int n)
{
    return (size_t)n <= offsets->count ? offsets->data[n - 1] : NAN;
}

/* Row i: the query stands at `left`, key j at its drawn distance from it. Distances of one row obey no other row's, so
 * each row is a sequence of its own. got[heads][queries][keys]. */
static int randomized_alibi_row(golden_case *c, const golden_array *left, const golden_array *right, int i, int queries,
                                int keys, int heads, double *got)
{
    double *pos_k = golden_memory(c, (size_t)keys, sizeof *pos_k), origin = 0;
    golden_tokens t;
    pe_stack stack;
    pe_shape shape = golden_shape(heads, 2, 0);
    for (int j = 0; pos_k && j < keys; j++) {
        pos_k[j] = j < i ? -randomized_offset(left, i - j) : j > i ? randomized_offset(right, j - i) : 0;
        if (isnan(pos_k[j])) {
            golden_skip(c, "there are fewer offsets than neighbours");
            return -1;
        }
        origin = fmax(origin, -pos_k[j]);
    }
    for (int j = 0; pos_k && j < keys; j++)
        pos_k[j] += origin; /* positions are not negative */
    if (!pos_k || golden_place(c, &origin, 1, pos_k, keys, &t) < 0)
        return -1;
    refhost *h = randomized_host(c, "alibi(form=asymmetric)", &shape, 0, t.len, t.pos, &stack);
    const refhost_input nothing = {.x = NULL};
    double *row = h ? golden_gather_pairs(c, refhost_forward(h, &nothing).bias, heads, &t) : NULL;
    for (int head = 0; row && head < heads; head++)
        for (int j = 0; j < keys; j++)
            got[(head * queries + i) * keys + j] = row[head * keys + j];
    if (h) {
        refhost_free(h);
        stack_free(&stack);
    }
    return row ? 0 : -1;
}

static void randomized_alibi(golden_case *c)
{
    int heads = golden_whole(c, "heads"), queries = golden_whole(c, "Tq"), keys = golden_whole(c, "Tk");
    int both = golden_number(c, "both_sides", 0) != 0;
    const golden_array *right = golden_in(c, "right_offsets", 1);
    const golden_array *left = both ? golden_in(c, "left_offsets", 1) : right;
    if (strcmp(c->variant, "relative_offsets") != 0)
        golden_skip(c, "randomised alibi has no variant '%s'", c->variant);
    if (!right || !left || c->outcome != GOLDEN_PASSED)
        return;
    if (heads < 1 || queries < 1 || keys < 1 || queries > 64 || keys > 64) {
        golden_skip(c, "%d heads, %d queries and %d keys", heads, queries, keys);
        return;
    }
    size_t count = (size_t)heads * (size_t)queries * (size_t)keys;
    double *got = golden_memory(c, count, sizeof *got);
    for (int i = 0; got && i < queries; i++)
        if (randomized_alibi_row(c, left, right, i, queries, keys, heads, got) < 0)
            return;
    golden_compare(c, "bias", got, count, NULL);
    golden_remark(c, "row by row: drawn distances are no differences of positions");
}

const golden_op golden_randomized_ops[] = {
    {"randomized_positions", randomized_positions},
    {"randomized_alibi", randomized_alibi},
    {NULL, NULL},
};
