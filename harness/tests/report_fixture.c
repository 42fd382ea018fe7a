#include "report_fixture.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record.h"

static const double made_ratio[MADE_LENGTHS] = {1, 2, 4};

static int made_lengths(const made_run *made)
{
    return made->lengths ? made->lengths : MADE_LENGTHS;
}

static void made_config(const made_run *made, run_config *c)
{
    config_defaults(c);
    snprintf(c->encoding, sizeof c->encoding, "%s", made->encoding);
    snprintf(c->task, sizeof c->task, "%s", made->task ? made->task : "repeat_copy");
    snprintf(c->eval.encoding_options, sizeof c->eval.encoding_options, "%s", made->tested_as ? made->tested_as : "");
    c->seed = made->seed ? made->seed : 1;
    c->train.len = 16;
    c->train.min_len = 4;
    c->train.warmup = 3;
    c->train.steps = made->steps ? made->steps : 30;
    c->train.lr = made->lr > 0 ? made->lr : c->train.lr;
    c->eval.ratios = (pe_list){.count = made_lengths(made)};
    memcpy(c->eval.ratios.value, made_ratio, (size_t)made_lengths(made) * sizeof made_ratio[0]);
    c->eval.stride = made->loss ? 4 : 0;
    char copy[512], *rest = copy;
    snprintf(copy, sizeof copy, "%s", made->settings ? made->settings : "");
    for (char *item; (item = strsep(&rest, "|")) != NULL;) {
        error e = ERROR_INIT;
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = '\0';
        cr_assert(config_set(c, item, equals + 1, &e) == 0, "%s", e.message);
    }
}

static void made_add(run_result *r, const made_run *made, int length, const char *metric, const char *mode,
                     double value)
{
    int len = (int)(16 * made_ratio[length]), absent = isnan(value);
    run_value *v = &r->values[r->values_count++];
    *v = (run_value){.bin = {len, len, made_ratio[length]},
                     .metric = metric,
                     .mode = mode,
                     .value = value,
                     .n = absent ? 0 : 256,
                     .status = absent ? "undefined" : "ok"};
    snprintf(v->flag, sizeof v->flag, "%s", made->flag && length > 0 && !absent ? made->flag : "");
}

static void made_add_position(run_result *r, int length, const char *mode, double value)
{
    int len = (int)(16 * made_ratio[length]);
    run_positions *p = &r->positions[r->positions_count++];
    *p = (run_positions){.bin = {len, len, made_ratio[length]}, .mode = mode, .count = len};
    p->loss = calloc((size_t)len, sizeof *p->loss);
    p->n = calloc((size_t)len, sizeof *p->n);
    for (int t = 0; t < len; t++) {
        p->loss[t] = value + 1.0 / (1 + t);
        p->n[t] = strcmp(mode, "sliding") == 0 && t < len - 8 ? 1 : 9; /* a stride of 8: the first window, and 8 more */
    }
}

static void made_evaluate(const made_run *made, run_result *r)
{
    for (int l = 0; l < made_lengths(made); l++) {
        double score = made->score[l];
        if (made->loss) {
            made_add(r, made, l, "loss", "windows", score - 0.01);
            made_add(r, made, l, "loss", "sliding", score);
            if (!isnan(score))
                made_add_position(r, l, "windows", score);
            if (!isnan(score))
                made_add_position(r, l, "sliding", score);
            continue;
        }
        made_add(r, made, l, "exact_match", "teacher_forced", score);
        made_add(r, made, l, "token_accuracy", "teacher_forced", (1 + score) / 2);
        if (made->decoded) {
            made_add(r, made, l, "exact_match", "free_running", score);
            made_add(r, made, l, "token_accuracy", "free_running", made->written);
        }
        made_add(r, made, l, "chance_exact", "teacher_forced", 0.25);
        made_add(r, made, l, "overlap", "teacher_forced", made->overlap[l]);
    }
}

static void made_train(const made_run *made, run_result *r)
{
    static const double usual[3] = {2, 1, 0.5};
    int given = made->training_loss[0] != 0 || made->training_loss[1] != 0 || made->training_loss[2] != 0;
    for (int i = 0; i < 3; i++)
        r->curve[r->curve_count++] = (run_point){.step = 10 * (i + 1),
                                                 .loss = given ? made->training_loss[i] : usual[i],
                                                 .lr = 1e-3,
                                                 .grad_norm = 1,
                                                 .validation_exact = NAN,
                                                 .validation_loss = NAN};
}

void made_write(const char *dir, const made_run *made, char *path)
{
    run_config c;
    run_value values[64];
    run_positions positions[16];
    run_point curve[4];
    char key[CONFIG_KEY_SIZE], file[PATH_MAX];
    error e = ERROR_INIT;
    host_facts h = {.version = "0.1.0",
                    .compiler = "gcc",
                    .flags = "-O3",
                    .kernel = "loops",
                    .level = "any",
                    .cpu = "CPU <9> & co",
                    .host = "box",
                    .cores = 2};
    run_result r = {.status = made->status,
                    .status_step = made->status == RUN_OK ? 30 : 17,
                    .selected_step = 30,
                    .fitted = !made->unfit,
                    .fit_score = made->unfit ? 0.5 : 1,
                    .parameters = 1234,
                    .tokens_seen = 1000,
                    .train_tokens_max = 16,
                    .map_reach = 15,
                    .task_version = made->task_version,
                    .values = values,
                    .positions = positions,
                    .curve = curve,
                    .extensions = made->extended,
                    .extensions_count = made->extended_count,
                    .train_seconds = 1.5,
                    .evaluate_seconds = 0.5,
                    .cpu_seconds = 2,
                    .peak_bytes = 1 << 20,
                    .distinct = made->distinct,
                    .exposure = made->exposure,
                    .probes = made->probes};
    snprintf(r.message, sizeof r.message, "%s", made->message ? made->message : "");
    made_config(made, &c);
    made_train(made, &r);
    if (made->status == RUN_OK)
        made_evaluate(made, &r);
    config_key(&c, key);
    snprintf(file, sizeof file, "%s/runs", dir);
    cr_assert(mkdir(file, 0777) == 0 || errno == EEXIST);
    snprintf(file, sizeof file, "%s/runs/%s.json", dir, key);
    json_t *record = record_json(&c, &r, &h);
    cr_assert(record && record_write(file, record, &e) == 0, "%s", e.message);
    json_decref(record);
    for (int i = 0; i < r.positions_count; i++) {
        free(positions[i].loss);
        free(positions[i].n);
    }
    if (path)
        snprintf(path, PATH_MAX, "%s", file);
}

void made_baseline(const char *dir, const char *baseline)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/spec.json", dir);
    FILE *f = fopen(path, "w");
    cr_assert(f && fprintf(f, "{\"schema\":\"posbench-sweep/1\",\"name\":\"made\",\"baseline\":\"%s\"}", baseline) > 0);
    fclose(f);
}

void made_folder(const char *dir)
{
    for (int seed = 1; seed <= 3; seed++) {
        double wobble = 0.01 * seed;
        made_write(dir, &(made_run){.encoding = "holds", .seed = seed, .score = {1, 0.9 + wobble, 0.8 + wobble}}, NULL);
        made_write(dir, &(made_run){.encoding = "ends", .seed = seed, .score = {1, NAN, NAN}}, NULL);
        made_write(dir,
                   &(made_run){.encoding = "holds",
                               .task = "prose",
                               .seed = seed,
                               .loss = 1,
                               .score = {1.5 + wobble, 1.6 + wobble, 1.7 + wobble}},
                   NULL);
        made_write(dir,
                   &(made_run){
                       .encoding = "ends", .task = "prose", .seed = seed, .loss = 1, .score = {1.4 + wobble, NAN, NAN}},
                   NULL);
    }
}

void gnuplot_or_skip(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        cr_skip_test("gnuplot is not installed");
}
