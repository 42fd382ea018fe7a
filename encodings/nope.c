/* nope.c - no position encoding: the causal mask alone tells early tokens from late ones. */
#include "pe.h"

const pe_descriptor pe_encoding_nope = {
    PE_DESCRIPTOR_HEAD,
    .name = "nope",
    .family = "none",
    .title = "No position encoding (NoPE)",
    .source = "Haviv et al. 2022, Transformer Language Models without Positional Encodings Still Learn Positional "
              "Information; Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization",
    .formula = "nothing is added anywhere; positions, whole or not, are never read",
    .notes = "A causal mask still lets a model count: the first token attends to itself only. On a constant input "
             "attention is exactly uniform. In a bidirectional network the output is blind to the order of the tokens.",
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_PARAMETER_FREE | PE_ANY_LENGTH | PE_ZERO_AT_INIT,
    .bibtex = "@inproceedings{haviv2022nopos, title = {Transformer Language Models without Positional Encodings Still "
              "Learn Positional Information}, author = {Haviv, Adi and Ram, Ori and Press, Ofir and Izsak, Peter and "
              "Levy, Omer}, booktitle = {Findings of the Association for Computational Linguistics: EMNLP 2022}, "
              "pages = {1382--1390}, year = {2022}, eprint = {2203.16634}, archiveprefix = {arXiv}} "
              "@inproceedings{kazemnejad2023impact, title = {The Impact of Positional Encoding on Length "
              "Generalization in Transformers}, author = {Kazemnejad, Amirhossein and Padhi, Inkit and Natesan "
              "Ramamurthy, Karthikeyan and Das, Payel and Reddy, Siva}, booktitle = {Advances in Neural Information "
              "Processing Systems}, volume = {36}, year = {2023}, eprint = {2305.19466}, archiveprefix = {arXiv}}",
};
