/* statement_read_cites.c - the works that claims cite, by key. */
#include <stdio.h>
#include <string.h>

#include "statement_reading.h"

static void cites_unknown(statement_reading *s, const yaml_node *node)
{
    const char *near = works_near(s->works, node->text);
    if (near)
        yaml_fault_at(s->faults, node, "cites: unknown work '%.64s'; did you mean '%s'?", node->text, near);
    else
        yaml_fault_at(s->faults, node,
                      "cites: unknown work '%.64s': it stands neither in sources.bib beside this file nor among "
                      "those of encodings, maps and tasks",
                      node->text);
}

static void cites_add(statement_reading *s, const yaml_node *node, char out[STATEMENT_CITES_MAX])
{
    size_t length = strlen(out);
    if (node->kind == YAML_BROKEN)
        return;
    if (node->kind != YAML_SCALAR || yaml_is_null(node)) {
        yaml_fault_at(s->faults, node, "cites takes the key of a work, or a list of keys");
        return;
    }
    if (!works_find(s->works, node->text))
        cites_unknown(s, node);
    else if (length + strlen(node->text) + 2 > STATEMENT_CITES_MAX)
        yaml_fault_at(s->faults, node, "cites: more than %d characters of keys", STATEMENT_CITES_MAX - 1);
    else
        snprintf(out + length, STATEMENT_CITES_MAX - length, "%s%s", length ? "," : "", node->text);
}

void reading_cites(statement_reading *s, const yaml_pair *pair, char out[STATEMENT_CITES_MAX])
{
    const yaml_node *value = pair->value;
    out[0] = '\0';
    if (value->kind != YAML_LIST)
        cites_add(s, value, out);
    for (int i = 0; value->kind == YAML_LIST && i < value->count; i++)
        cites_add(s, value->items[i], out);
}
