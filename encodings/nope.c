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
};
