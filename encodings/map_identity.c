/* map_identity.c - tokens stand where they are. */
#include "pe.h"

static void identity_place(const pe_map_context *c, double *pos)
{
    for (int t = 0; t < c->len; t++)
        pos[t] = t;
}

const pe_map pe_map_identity = {
    PE_MAP_HEAD,
    .name = "identity",
    .title = "Consecutive positions",
    .source = "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
    .formula = "pos(t) = t for t = 0 .. len-1",
    .notes = "The default. Padding never shifts it: the first real token stands at 0.",
    .place = identity_place,
    .bibtex = "@inproceedings{vaswani2017attention, title = {Attention Is All You Need}, author = {Vaswani, Ashish "
              "and Shazeer, Noam and Parmar, Niki and Uszkoreit, Jakob and Jones, Llion and Gomez, Aidan N. and "
              "Kaiser, {\\L}ukasz and Polosukhin, Illia}, booktitle = {Advances in Neural Information Processing "
              "Systems}, volume = {30}, year = {2017}, eprint = {1706.03762}, archiveprefix = {arXiv}}",
};
