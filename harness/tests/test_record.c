/* Records: what they hold, byte for byte, and files that are none. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "rng.h"
#include "scratch.h"

/* ------------------------------------------------------------------------------------------------ a sample run */

static run_value sample_values[] = {
    {{32, 32, 1}, "exact_match", "teacher_forced", 0.9975, 400, "ok", ""},
    {{48, 48, 1.5}, "exact_match", "teacher_forced", 1.0 / 3, 400, "ok", "clamp"},
    {{128, 128, 4}, "exact_match", "teacher_forced", NAN, 0, "undefined", ""},
};
static double sample_loss[] = {0.1, 2.5e-7, NAN};
static long sample_counts[] = {400, 400, 0};
static run_positions sample_positions[] = {{{32, 32, 1}, "teacher_forced", 3, sample_loss, sample_counts}};
static run_point sample_curve[] = {{100, 4.60517, 1e-3, 0.75, NAN, NAN}, {200, 0.25, 5.5e-4, INFINITY, 0.5, 0.3}};

static void sample_run(run_config *c, run_result *r, host_facts *h)
{
    error e = ERROR_INIT;
    registry *all = registry_new(&e);
    config_defaults(c);
    cr_assert(config_set(c, "encoding", "rope(base=500)", &e) == 0 && config_set(c, "task", "repeat_copy", &e) == 0);
    cr_assert(config_check(c, all, &e) == 0, "%s", e.message);
    registry_free(all);
    *r = (run_result){.status = RUN_OK,
                      .status_step = 200,
                      .selected_step = 200,
                      .fitted = 1,
                      .fit_score = 0.9975,
                      .parameters = 123456,
                      .encoding_parameters = 0,
                      .tokens_seen = 5000000000,
                      .train_tokens_max = 67,
                      .task_version = 3,
                      .map_reach = 66,
                      .values_count = 3,
                      .values = sample_values,
                      .positions_count = 1,
                      .positions = sample_positions,
                      .curve_count = 2,
                      .curve = sample_curve,
                      .train_seconds = 1.25,
                      .evaluate_seconds = 0.5,
                      .cpu_seconds = 1.7,
                      .peak_bytes = 12345678};
    *h = (host_facts){.version = "0.1.0",
                      .compiler = "gcc 12.2.0",
                      .flags = "-O3",
                      .kernel = "plain loops",
                      .level = "any",
                      .cpu = "A \"CPU\"",
                      .host = "box",
                      .cores = 2};
}

static char *sample_text(size_t *size)
{
    run_config c;
    run_result r;
    host_facts h;
    sample_run(&c, &r, &h);
    json_t *record = record_json(&c, &r, &h);
    cr_assert(record != NULL);
    char *text = record_text(record, size);
    cr_assert(text != NULL && strlen(text) == *size);
    json_decref(record);
    return text;
}

/* ------------------------------------------------------------------------------------------------ contents */

static const char expected_record[] =
    "{\n"
    "  \"schema\": \"posbench-record/1\",\n"
    "  \"key\": \"@\",\n"
    "  \"canonical\": "
    "\"format=1\\nencoding=rope(base=500)\\ntask=repeat_copy\\ntrain.min_len=1\\ntrain.warmup=100\\n\",\n"
    "  \"config\": {\n"
    "    \"encoding\": \"rope(base=500)\",\n"
    "    \"task\": \"repeat_copy\",\n"
    "    \"seed\": 1,\n"
    "    \"model\": {\"width\": 64, \"layers\": 2, \"heads\": 4, \"mlp\": 4, \"norm\": \"layer\", \"gelu\": \"tanh\", "
    "\"causal\": "
    "true, \"tied_head\": false, \"share_layers\": false, \"scale_embedding\": false, \"init_deviation\": 0.02},\n"
    "    \"train\": {\n"
    "      \"min_len\": 1,\n"
    "      \"len\": 32,\n"
    "      \"lengths\": \"uniform\",\n"
    "      \"length_ratio\": 0.9,\n"
    "      \"length_weights\": [1],\n"
    "      \"steps\": 2000,\n"
    "      \"batch\": 64,\n"
    "      \"lr\": 0.001,\n"
    "      \"min_lr\": 0.1,\n"
    "      \"warmup\": 100,\n"
    "      \"schedule\": \"cosine\",\n"
    "      \"weight_decay\": 0.01,\n"
    "      \"decay\": \"matrices\",\n"
    "      \"clip\": 1,\n"
    "      \"beta1\": 0.9,\n"
    "      \"beta2\": 0.98,\n"
    "      \"epsilon\": 1e-08,\n"
    "      \"check_every\": 200,\n"
    "      \"stop_at\": 0,\n"
    "      \"select\": \"last\",\n"
    "      \"positions\": false,\n"
    "      \"data\": 0\n"
    "    },\n"
    "    \"eval\": {\n"
    "      \"ratios\": [1, 1.5, 2, 3, 4],\n"
    "      \"bins\": \"\",\n"
    "      \"items\": 256,\n"
    "      \"decode\": false,\n"
    "      \"tokens\": 65536,\n"
    "      \"stride\": 0,\n"
    "      \"map\": \"\",\n"
    "      \"encoding_options\": \"\",\n"
    "      \"fit\": 0.99,\n"
    "      \"probe\": false,\n"
    "      \"shuffle\": false\n"
    "    },\n"
    "    \"extend\": {\n"
    "      \"methods\": \"\",\n"
    "      \"factors\": [2],\n"
    "      \"steps\": [0, 50, 200, 1000],\n"
    "      \"lr\": \"auto\",\n"
    "      \"task_options\": \"\"\n"
    "    }\n"
    "  },\n"
    "  \"status\": \"ok\",\n"
    "  \"status_step\": 200,\n"
    "  \"message\": null,\n"
    "  \"parameters\": {\"total\": 123456, \"encoding\": 0},\n"
    "  \"data\": {\"train_tokens_max\": 67, \"tokens_seen\": 5000000000, \"map_reach\": 66, \"task_version\": 3, \"corpus_sha256\": null},\n"
    "  \"selection\": {\"rule\": \"last\", \"step\": 200, \"fitted\": true, \"fit_score\": 0.9975},\n"
    "  \"training\": [\n"
    "    {\"step\": 100, \"loss\": 4.60517, \"lr\": 0.001, \"grad_norm\": 0.75, \"validation_exact\": null, "
    "\"validation_loss\": "
    "null},\n"
    "    {\"step\": 200, \"loss\": 0.25, \"lr\": 0.00055, \"grad_norm\": null, \"validation_exact\": 0.5, "
    "\"validation_loss\": "
    "0.3}\n"
    "  ],\n"
    "  \"evaluation\": [\n"
    "    {\"min_len\": 32, \"max_len\": 32, \"ratio\": 1, \"metric\": \"exact_match\", \"mode\": \"teacher_forced\", "
    "\"value\": "
    "0.9975, \"n\": 400, \"status\": \"ok\", \"flag\": null},\n"
    "    {\"min_len\": 48, \"max_len\": 48, \"ratio\": 1.5, \"metric\": \"exact_match\", \"mode\": \"teacher_forced\", "
    "\"value\": "
    "0.3333333333333333, \"n\": 400, \"status\": \"ok\", \"flag\": \"clamp\"},\n"
    "    {\"min_len\": 128, \"max_len\": 128, \"ratio\": 4, \"metric\": \"exact_match\", \"mode\": \"teacher_forced\", "
    "\"value\": "
    "null, \"n\": 0, \"status\": \"undefined\", \"flag\": null}\n"
    "  ],\n"
    "  \"per_position\": [\n"
    "    {\n"
    "      \"min_len\": 32,\n"
    "      \"max_len\": 32,\n"
    "      \"ratio\": 1,\n"
    "      \"mode\": \"teacher_forced\",\n"
    "      \"loss\": [0.1, 2.5e-07, null],\n"
    "      \"n\": [400, 400, 0]\n"
    "    }\n"
    "  ],\n"
    "  \"cost\": {\"train_seconds\": 1.25, \"evaluate_seconds\": 0.5, \"cpu_seconds\": 1.7, \"peak_bytes\": "
    "12345678},\n"
    "  \"host\": {\"version\": \"0.1.0\", \"compiler\": \"gcc 12.2.0\", \"flags\": \"-O3\", \"level\": \"any\", \"kernel\": \"plain "
    "loops\", \"cpu\": \"A "
    "\\\"CPU\\\"\", \"host\": \"box\", \"cores\": 2}\n"
    "}\n";

Test(record, bytes)
{
    run_config c;
    run_result r;
    host_facts h;
    char key[CONFIG_KEY_SIZE], expected[sizeof expected_record + CONFIG_KEY_SIZE];
    size_t size;
    sample_run(&c, &r, &h);
    config_key(&c, key);
    const char *at = strchr(expected_record, '@');
    snprintf(expected, sizeof expected, "%.*s%s%s", (int)(at - expected_record), expected_record, key, at + 1);
    char *text = sample_text(&size);
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(record, the_same_bytes_in_a_locale_with_commas)
{
    scratch s;
    size_t plain_size, size;
    char *plain = sample_text(&plain_size);
    scratch_open(&s);
    if (!scratch_comma_locale(&s)) {
        scratch_close(&s);
        free(plain);
        cr_skip_test("no locale with a decimal comma here");
    }
    char *text = sample_text(&size), path[PATH_MAX];
    cr_assert_str_eq(text, plain);
    error e = ERROR_INIT;
    json_t *back = record_read(scratch_write(&s, "r.json", text, size, path), &e);
    cr_assert(back != NULL, "%s", e.message);
    cr_assert_eq(json_real_value(json_object_get(json_object_get(back, "cost"), "train_seconds")), 1.25);
    json_decref(back);
    free(text);
    free(plain);
    scratch_close(&s);
}

/* What a run and a host say of themselves comes last, so that two records of one run differ in their last two lines
 * only. */
Test(record, only_cost_and_host_may_differ)
{
    run_config c;
    run_result r;
    host_facts h;
    sample_run(&c, &r, &h);
    json_t *first = record_json(&c, &r, &h);
    r.train_seconds = 2, r.cpu_seconds = 9, r.peak_bytes = 1;
    snprintf(h.host, sizeof h.host, "other");
    json_t *second = record_json(&c, &r, &h);
    size_t a_size, b_size, same = 0;
    char *a = record_text(first, &a_size), *b = record_text(second, &b_size);
    while (a[same] == b[same])
        same++;
    cr_assert(strstr(a, "  \"cost\"") <= a + same, "they differ before cost");
    json_object_del(first, "cost"), json_object_del(first, "host");
    json_object_del(second, "cost"), json_object_del(second, "host");
    cr_assert(json_equal(first, second));
    free(a);
    free(b);
    json_decref(first);
    json_decref(second);
}

Test(record, words_of_a_dying_process_become_text)
{
    run_config c;
    run_result r;
    host_facts h;
    sample_run(&c, &r, &h);
    r.status = RUN_FAILED;
    snprintf(r.message, sizeof r.message, "killed\tby \"signal\" 9\n\x01\xff\xfe\\");
    json_t *record = record_json(&c, &r, &h);
    cr_assert(record != NULL);
    cr_assert_str_eq(json_string_value(json_object_get(record, "status")), "failed");
    cr_assert_str_eq(json_string_value(json_object_get(record, "message")), "killed\tby \"signal\" 9\n\x01??\\");
    size_t size;
    char *text = record_text(record, &size);
    cr_assert(strstr(text, "\"killed\\u0009by \\\"signal\\\" 9\\n\\u0001??\\\\\"") != NULL, "%s", text);
    json_t *back = json_loadb(text, size, 0, NULL);
    cr_assert_str_eq(json_string_value(json_object_get(back, "message")),
                     json_string_value(json_object_get(record, "message")));
    json_decref(back);
    json_decref(record);
    free(text);
}

Test(record, numbers_read_back_as_they_were)
{
    json_t *list = json_array();
    rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = rng_u64(&r);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            json_array_append_new(list, json_real(value));
    }
    size_t size;
    char *text = record_text(list, &size);
    json_t *back = json_loadb(text, size, 0, NULL);
    cr_assert_eq(json_array_size(back), json_array_size(list));
    for (size_t i = 0; i < json_array_size(list); i++)
        cr_assert_eq(json_number_value(json_array_get(back, i)), json_real_value(json_array_get(list, i)));
    json_decref(back);
    json_decref(list);
    free(text);
}

Test(record, host_facts)
{
    host_facts h;
    host_facts_read(&h);
    cr_assert(h.version[0] >= '0' && h.version[0] <= '9', "%s", h.version);
    cr_assert(strchr(h.compiler, ' ') != NULL && strncmp(h.flags, "-O", 2) == 0, "%s %s", h.compiler, h.flags);
    cr_assert(h.kernel[0] && h.cpu[0] && h.host[0]);
    cr_assert_geq(h.cores, 1);
}

/* ------------------------------------------------------------------------------------------------ reading */

Test(record, write_and_read)
{
    run_config c;
    run_result r;
    host_facts h;
    scratch s;
    char path[PATH_MAX];
    error e = ERROR_INIT;
    sample_run(&c, &r, &h);
    scratch_open(&s);
    json_t *record = record_json(&c, &r, &h);
    cr_assert(record_write(scratch_path(&s, "run.json", path), record, &e) == 0, "%s", e.message);
    json_t *back = record_read(path, &e);
    cr_assert(back != NULL, "%s", e.message);
    size_t a_size, b_size;
    char *a = record_text(record, &a_size), *b = record_text(back, &b_size);
    cr_assert_str_eq(a, b);
    free(a);
    free(b);
    json_decref(record);
    json_decref(back);
    scratch_close(&s);
}

/* The good record with `from` replaced by `to` once, or cut off where `from` begins when `to` is NULL. */
static void read_altered(const scratch *s, const char *from, const char *to, const char *message)
{
    size_t size;
    char *text = sample_text(&size), path[PATH_MAX];
    char *at = strstr(text, from), *altered = malloc(size + 256);
    cr_assert(at != NULL, "%s", from);
    int n = to ? sprintf(altered, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from))
               : sprintf(altered, "%.*s", (int)(at - text), text);
    error e = ERROR_INIT;
    json_t *record = record_read(scratch_write(s, "altered.json", altered, (size_t)n, path), &e);
    cr_assert(record == NULL, "taken: %s -> %s", from, to ? to : "end");
    cr_assert_eq(e.kind, ERROR_ENVIRONMENT);
    cr_assert(strncmp(e.message, path, strlen(path)) == 0 && strstr(e.message, message), "%s (wanted: %s)", e.message,
              message);
    free(altered);
    free(text);
}

Test(record, files_that_are_no_records)
{
    scratch s;
    char path[PATH_MAX];
    error e = ERROR_INIT;
    scratch_open(&s);
    read_altered(&s, "\"cost\"", NULL, "the record ends too soon; the file was cut off");
    read_altered(&s, "{", NULL, "the record ends too soon");
    read_altered(&s, "posbench-record/1", "posbench-record/2",
                 "its schema is 'posbench-record/2', but this program reads");
    read_altered(&s, "\"schema\"", "\"scheme\"", "it has no \"schema\"");
    read_altered(&s, "encoding=rope", "encoding=nope", "one was edited");
    read_altered(&s, "\"key\": \"", "\"key\": \"0", "one was edited");
    read_altered(&s, "format=1", "format=9", "this program reads format=1");
    read_altered(&s, "\"status\": \"ok\"", "\"status\": 7", "\"status\" has the wrong type");
    read_altered(&s, "\"message\": null", "\"message\": []", "\"message\" has the wrong type");
    read_altered(&s, "\"training\"", "\"trainings\"", "\"training\" is missing");
    read_altered(&s, "\"evaluation\": [", "\"evaluation\": [,", "no JSON");
    read_altered(&s, "\"seed\": 1", "\"seed\": 1, \"seed\": 2", "duplicate");
    cr_assert(record_read(scratch_path(&s, "missing.json", path), &e) == NULL);
    cr_assert(strstr(e.message, "missing.json: No such file or directory") != NULL, "%s", e.message);
    error_clear(&e);
    cr_assert(record_read(s.dir, &e) == NULL && e.kind == ERROR_ENVIRONMENT);
    error_clear(&e);
    cr_assert(record_read(scratch_write(&s, "empty.json", "", 0, path), &e) == NULL);
    cr_assert(strstr(e.message, "cut off") != NULL, "%s", e.message);
    error_clear(&e);
    cr_assert(record_read(scratch_write(&s, "number.json", "[1]", 3, path), &e) == NULL);
    cr_assert(strstr(e.message, "no record of posbench") != NULL, "%s", e.message);
    scratch_close(&s);
}
