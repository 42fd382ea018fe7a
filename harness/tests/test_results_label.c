/* What tells runs apart in tables and legends. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "results_label.h"
#include "settings.h"

enum { LABEL_RUNS = 6 };

static void label_expect_in(int tuned, const char *const *settings, const char *const *labels)
{
    error e = ERROR_INIT;
    run_record run[LABEL_RUNS];
    results r = {.run = run, .tuned = tuned};
    memset(run, 0, sizeof run);
    for (; r.count < LABEL_RUNS && settings[r.count]; r.count++) {
        cr_assert(setting_apply(&run[r.count].config, settings[r.count], &e) == 0, "%s", e.message);
    }
    cr_assert_eq(results_label(&r, &e), 0, "%s", e.message);
    for (int i = 0; i < r.count; i++) {
        cr_expect_str_eq(run[i].label, labels[i]);
        free(run[i].label);
    }
}

static void label_expect(const char *const *settings, const char *const *labels)
{
    label_expect_in(0, settings, labels);
}

/* Results arrive sorted by task and encoding; seeds are averaged over. */
Test(results_label, the_encoding_and_what_differs_beside_it)
{
    label_expect((const char *const[]){"task=sort|encoding=nope|seed=1", "task=sort|encoding=nope|seed=2",
                                       "task=sort|encoding=rope|train.lr=0.1", "task=sort|encoding=rope|train.lr=0.2",
                                       "task=sort|encoding=rope|train.lr=0.2|model.width=32", NULL},
                 (const char *const[]){"nope", "nope", "rope [model.width=64, train.lr=0.1]",
                                       "rope [model.width=64, train.lr=0.2]", "rope [model.width=32, train.lr=0.2]"});
}

/* Nobody may take options of evaluation for trained ones, even when all runs have them. */
Test(results_label, options_of_evaluation_are_always_told)
{
    label_expect((const char *const[]){"task=sort|encoding=rope|eval.encoding_options=rope(base=3)", NULL},
                 (const char *const[]){"rope tested as rope(base=3)"});
    label_expect((const char *const[]){"task=sort|encoding=rope|train.lr=0.1",
                                       "task=sort|encoding=rope|train.lr=0.2|eval.encoding_options=rope(base=3)", NULL},
                 (const char *const[]){"rope [train.lr=0.1]", "rope tested as rope(base=3) [train.lr=0.2]"});
}

/* A rate that tuning chose for each width is no third thing to tell runs apart by; one that it did not choose is. */
Test(results_label, a_chosen_rate_is_left_out)
{
    label_expect_in(1,
                    (const char *const[]){"task=sort|encoding=rope|train.lr=0.1|seed=1",
                                          "task=sort|encoding=rope|train.lr=0.1|seed=2",
                                          "task=sort|encoding=rope|train.lr=0.2|model.width=32", NULL},
                    (const char *const[]){"rope [model.width=64]", "rope [model.width=64]", "rope [model.width=32]"});
    label_expect_in(1,
                    (const char *const[]){"task=sort|encoding=rope|train.lr=0.1|seed=1",
                                          "task=sort|encoding=rope|train.lr=0.2|seed=2", NULL},
                    (const char *const[]){"rope [train.lr=0.1]", "rope [train.lr=0.2]"});
}
