/* report_terms.c - how each number was made: what a reader needs to sign it. */
#include "report_document.h"

static const struct {
    const char *term, *text;
} terms_all[] = {
    {"Exact match",
     " is the share of test sequences whose answer is right in every token; token accuracy counts tokens. "
     "Both are teacher-forced: each token is predicted from the right ones before it. For exact match under a "
     "causal mask this is the same event as writing the whole answer greedily. Free-running scores (eval.decode) are "
     "of "
     "answers written greedily, token by token, as many tokens as the right answer has."},
    {"Loss",
     " is in nats per token, over all scored tokens at once. Non-overlapping windows give early tokens of each window "
     "little context; sliding windows give every token a full one. A gain that only windows show is the end of that "
     "handicap, not use of longer context. Masked is the loss of hidden tokens in windows drawn at random."},
    {"Means",
     " are over seeds, of all runs that gave a value, fitted or not. The 95 % intervals come from the "
     "studentised bootstrap (4000 resamples of the seeds, drawn to Student's t above five) and stay within what "
     "a score can be; with one seed there is none. In simulations they hold the true mean in 93 to 97 % of "
     "experiments with 5, 10 and 30 seeds for scores that are normal, evenly spread, skewed or long-tailed, and "
     "for paired differences; in 92 to 93 % for five seeds as skewed as an exponential. Fewer seeds promise "
     "less. Where all seeds agree the interval is a point: it shows that no spread was seen, not that there is "
     "none. Intervals say what other seeds would change, nothing about other tasks or sizes."},
    {"Best", " (bold) is the best mean of a column and all that cannot be told apart from it, which are marked "
             "\342\211\210: the 95 % "
             "interval of the differences between runs with the same seed holds 0, or there are too few pairs for one. "
             "Nothing is marked "
             "where nobody beats chance or only one seed was run. Many comparisons are made for these marks, and none "
             "is corrected for "
             "that: read a single narrow win as a hint, and the corrected p-values beside the baseline for more."},
    {"Comparisons", " are between runs with the same seed, which share their data and the initial weights of all that "
                    "both have. p is that of "
                    "Wilcoxon's signed-rank test, two-sided and exact for the ranks at hand (ties share their ranks; "
                    "zeros are ranked and left "
                    "out, after Pratt); Holm's correction is over all encodings that are compared with the baseline on "
                    "one task. n differences "
                    "cannot give a p below 2^(1-n): 0.0625 for five. d_z is the mean difference over its standard "
                    "deviation; the rank-biserial "
                    "correlation runs from -1 to 1."},
    {"Seeds needed", ": so many pairs give a two-sided paired t-test at the 5 % level a power of 0.8, if the observed "
                     "difference and spread are the "
                     "true ones. Both are themselves uncertain, with few seeds very much so."},
    {"Area", " is the mean of the score over the logarithm of the length, from the training length to the longest "
             "tested one: the area "
             "under the curve as drawn, over its width. Where a length has no value there is no area."},
    {"Reach", " is the longest tested multiple of the training length up to which all keep 90 % of the score in "
              "distribution (a loss: at most "
              "1/0.9 of it). \342\211\245: nothing longer was tested. *: no run fitted in distribution."},
    {"Weights", " that were tested are those of the last step, or, with train.select=best, the best in distribution: "
                "what is longer than in "
                "training chooses nothing. Each record holds the rule and the step."},
    {"Fitted",
     " runs reached the threshold set by eval.fit at training lengths. The others are counted, never dropped: a "
     "method that often fails to learn is shown as such."},
    {"\342\200\224",
     " is no value; nothing is filled in. Hollow points and starred numbers have a value only through a "
     "stand-in that the notes above name."},
    {"Mean rank",
     ": encodings are ranked (1 is best, ties share the mean) at each length past the training length, for each "
     "seed; ranks are averaged over lengths, then tasks; the interval is over seeds. A run without a value "
     "shares the last ranks. Mean 1/rank averages the reciprocals of the same ranks (mean reciprocal rank, as "
     "Kazemnejad et al. "
     "2023 report it). Friedman's test and Nemenyi's critical difference (Dem\305\241ar 2006) take the tasks as "
     "blocks."},
    {"Sentinels", " are tasks at which nothing may succeed far past the training length. One that is solved, with a "
                  "mean of 0.9 or more, means "
                  "that answers leak, and the report opens with it."},
};

void report_how_to_read(const report_view *v, document *d)
{
    doc_add(d, DOC_SECTION, "How to read the numbers", NULL);
    for (size_t i = 0; i < sizeof terms_all / sizeof terms_all[0]; i++) {
        buffer b = BUFFER_INIT;
        buffer_format(&b, DOC_STRONG "%s" DOC_END "%s", terms_all[i].term, terms_all[i].text);
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
    if (v->unranked_tasks == 0)
        return;
    buffer b = BUFFER_INIT;
    buffer_format(
        &b,
        "The ranks leave %d task%s out: not every encoding was run there, or nothing past the training length was "
        "tested.",
        v->unranked_tasks, v->unranked_tasks == 1 ? "" : "s");
    doc_add_buffer(d, DOC_ITEM, &b, NULL);
}
