/* map_task.c - tokens stand where the task says that they belong. */
#include "pe.h"

#include <assert.h>
#include <stdio.h>

typedef struct task_map_options {
    int start, scope;
} task_map_options;

static const pe_option task_map_rows[] = {
    {"start", PE_OPTION_INT, PE_OFFSET(task_map_options, start), "0", 0, 1000000000, 1, NULL,
     "K: in training all positions of a sequence are shifted by a whole number of 0 .. K, each as likely, so that "
     "positions of longer sequences are met; auto: as far as the last position that has a meaning leaves room "
     "(position "
     "coupling); 0: never"},
    {"scope", PE_OPTION_CHOICE, PE_OFFSET(task_map_options, scope), "sequence", 0, 0, 0, "sequence|batch",
     "sequence: each sequence has a shift of its own (position coupling); batch: one number decides for all"},
    {0},
};

static pe_map_scope task_map_scope(const void *options)
{
    const task_map_options *o = options;
    return o->scope == 0 ? PE_MAP_PER_SEQUENCE : PE_MAP_PER_BATCH;
}

static int task_map_check_last(const void *options, double last_position, char *message, size_t size)
{
    const task_map_options *o = options;
    if (o->start != PE_AUTO_INT || isfinite(last_position))
        return 0;
    snprintf(message, size,
             "start=auto shifts as far as positions have a meaning, but in this stack they have no end; "
             "give a number");
    return -1;
}

static void task_map_needs(const pe_map_context *c, size_t *draws, size_t *scratch)
{
    (void)c;
    *draws = 1;
    *scratch = 0;
}

static double task_map_shift(const pe_map_context *c)
{
    const task_map_options *o = c->options;
    double most = o->start;
    if (!c->training)
        return 0;
    if (o->start == PE_AUTO_INT) {
        double farthest = 0;
        for (int t = 0; t < c->len; t++)
            farthest = fmax(farthest, c->given[t]);
        most = fmax(0, floor(c->last_position - farthest));
    }
    return floor(c->uniform[0] * (most + 1));
}

static void task_map_place(const pe_map_context *c, double *pos)
{
    assert(c->given);
    double shift = task_map_shift(c);
    for (int t = 0; t < c->len; t++)
        pos[t] = shift + c->given[t];
}

static const char *const task_map_examples[] = {"start=64", "start=64,scope=batch", NULL};

const pe_map pe_map_task = {
    PE_MAP_HEAD,
    .name = "task",
    .title = "Positions that the task proposes",
    .source =
        "Cho et al. 2024, Position Coupling: Improving Length Generalization of Arithmetic Transformers Using Task "
        "Structure; the random start as in its released code",
    .formula =
        "training: pos(t) = s + id(t), s uniform over 0 .. K, id(t) >= 0 given by the task; evaluation: pos(t) = "
        "id(t); auto: K = floor(last position that has a meaning - largest id of the sequence)",
    .notes =
        "Tokens that belong together have one id: a symbol and its copy. Ids may fall along a sequence, so encodings "
        "that need order refuse this map. `posbench show TASK` says what a task proposes; a task that proposes "
        "nothing is refused. The released code of position coupling counts ids from 1 and keeps the id 0 of what "
        "belongs to nothing (begin, end, padding) where it is; here ids count from 0 and the begin moves along.",
    .options = task_map_rows,
    .options_size = sizeof(task_map_options),
    .examples = task_map_examples,
    .needs_given = 1,
    .unordered = 1,
    .scope = task_map_scope,
    .needs = task_map_needs,
    .place = task_map_place,
    .check_last = task_map_check_last,
    .bibtex = "@inproceedings{cho2024position, title = {Position Coupling: Improving Length Generalization of "
              "Arithmetic Transformers Using Task Structure}, author = {Cho, Hanseul and Cha, Jaeyoung and Awasthi, "
              "Pranjal and Bhojanapalli, Srinadh and Gupta, Anupam and Yun, Chulhee}, booktitle = {Advances in Neural "
              "Information Processing Systems}, year = {2024}, eprint = {2405.20671}, archiveprefix = {arXiv}}",
};
