/* registry.h - names to descriptors, and text to stacks.
 *
 * A stack is an ordered list of encodings with an optional position map:  rope(base=1e4)+fox@shift(max=64).
 * A layered encoding is one stack for each layer:                        [rope,rope,rope,nope].
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include <stddef.h>

#include "error.h"
#include "pe.h"

typedef struct registry registry;

/* Holds all built-in encodings and maps of list.h. NULL with e set when memory is short. Owned by the caller. */
registry *registry_new(error *e);
void registry_free(registry *r);

/* Adds what a plug-in exports. Refused, before any of its code is called and with both versions in the message: a
 * missing symbol, another abi, another size of real, a struct of another size, a name that is taken. */
int registry_load_plugin(registry *r, const char *path, error *e);

int registry_encoding_count(const registry *r);
const pe_descriptor *registry_encoding(const registry *r, int i);
int registry_map_count(const registry *r);
const pe_map *registry_map(const registry *r, int i);

/* NULL with e set to "unknown encoding 'ropee'; did you mean 'rope'?". */
const pe_descriptor *registry_find_encoding(const registry *r, const char *name, error *e);
const pe_map *registry_find_map(const registry *r, const char *name, error *e);

enum {
    STACK_MEMBERS_MAX = 8,
    STACK_TEXT_MAX = 4096 /* every parsed stack and layered list prints into this many characters */
};

typedef struct stack_member {
    const pe_descriptor *encoding;
    void *options; /* encoding->options_size bytes; owned by the stack; NULL when 0 */
} stack_member;

typedef struct pe_stack {
    int count;
    stack_member member[STACK_MEMBERS_MAX];
    const pe_map *map; /* never NULL: identity when none was written */
    void *map_options;
} pe_stack;

/* Parses one stack. White space around tokens means nothing. On failure nothing is left to free. ERROR_USAGE. */
int stack_parse(const registry *r, const char *text, pe_stack *out, error *e);
void stack_free(pe_stack *s);

/* Puts another position map, "clamp(limit=63)", in the place of the stack's own; the stack is unchanged on failure. */
int stack_set_map(const registry *r, pe_stack *s, const char *text, error *e);

/* The one canonical text: members in their order, options that differ from defaults only, `@map` unless identity.
 * Returns the length of the whole text, as snprintf does. */
int stack_print(const pe_stack *s, char *text, size_t size);
/* The two halves of it: the members alone, and "@map" alone (empty for identity). */
int stack_print_members(const pe_stack *s, char *text, size_t size);
int stack_print_map(const pe_stack *s, char *text, size_t size);

/* Everything that can be refused before a run starts: a member without meaning under this mask, options against the
 * shape, two members that rotate, the same member twice, a member that cannot read what another makes of q and k, an
 * unordered map beside a member that needs order, a map against the lengths, training positions past the last
 * that has a meaning. max_len: the longest sequence that will be asked for. Messages name the member. ERROR_USAGE. */
int stack_check(const pe_stack *s, const pe_shape *shape, int max_len, error *e);

/* For a map that takes positions from the task (needs_given), which stack_check cannot follow: farthest is the largest
 * position that the task proposes in training. Refuses training past the last position that has a meaning. Other maps
 * pass. ERROR_USAGE. */
int stack_check_given(const pe_stack *s, const pe_shape *shape, double farthest, error *e);

/* Refuses training with sequences of len tokens that reaches past the last position that has a meaning. ERROR_USAGE. */
int stack_check_reach(const pe_stack *s, const pe_shape *shape, int len, error *e);

/* The smallest last_position of the members. */
double stack_last_position(const pe_stack *s, const pe_shape *shape);

/* What a member claims under its options. */
unsigned stack_member_claims(const stack_member *m);
/* Its hooks, of pe_idle, that leave everything as it is under its options. */
unsigned stack_member_idle(const stack_member *m);

/* The claims that hold for the whole stack: those that all members make; shift invariance not where a member that
 * reads q or k themselves (reads_heads) stands beside one that rotates them. */
unsigned stack_claims(const pe_stack *s);

/* One stack for each layer. "[a,b]" with fewer stacks than layers repeats; layers must be a multiple of the count. A
 * text without brackets is the same stack everywhere. The map must be the same in all, since positions are one per
 * token: "[a,b]@m" is "[a@m,b@m]", and the canonical form of it. A pattern that repeats itself prints once: [a,b,a,b]
 * as [a,b]. */
typedef struct layered_stack {
    int count;         /* of distinct entries in the pattern */
    pe_stack *pattern; /* [count]; layer l uses pattern[l % count] */
} layered_stack;

int layered_parse(const registry *r, const char *text, layered_stack *out, error *e);
void layered_free(layered_stack *s);
int layered_set_map(const registry *r, layered_stack *s, const char *text, error *e);
/* Gives other options to encodings that are in the stacks, "rope(scaling=yarn,factor=4)+ssmax(start=1)"; options that
 * are not named stay. An encoding in several stacks gets them in each; one in none is refused. On failure s may be
 * changed in part. */
int layered_set_options(const registry *r, layered_stack *s, const char *text, error *e);
/* The canonical text of such a change: options in table order, each that is named, even at its default. */
int stack_options_canonical(const registry *r, const char *text, char *out, size_t size, error *e);
int layered_print(const layered_stack *s, char *text, size_t size);

/* Stretching a trained stack to longer sequences. A method is a name, with options that go before its own or without:
 * `none`; a position map, which takes the place of the stack's; or an extension that an encoding declares
 * (pe_extension), "yarn(beta_fast=auto)". */
#define STACK_EXTEND_NONE "none"
typedef struct stack_stretch {
    double factor; /* new length over that of training, in tokens */
    double ends;   /* last position of the longest new sequence over that of the longest one of training */
} stack_stretch;
/* The one canonical text of a method; unknown ones are refused with the nearest name. ERROR_USAGE. */
int stack_method_canonical(const registry *r, const char *text, char *out, size_t size, error *e);
/* Refuses, with the nearest name, an extension that no encoding in s[count] declares. ERROR_USAGE. */
int layered_check_method(const registry *r, const layered_stack *s, int count, const char *text, error *e);
/* Does it to s. -1 with ERROR_USAGE and the reason where it has no meaning for these stacks; s may then be changed in
 * part. What it makes of them must still pass layered_check. */
int layered_extend(const registry *r, layered_stack *s, const char *method, const stack_stretch *by, error *e);
/* pattern with numbers for {factor} and {ends}, in out[size]. -1: other words in braces, or no room. */
int stack_extend_fill(const char *pattern, const stack_stretch *by, char *out, size_t size);
int layered_check(const layered_stack *s, const pe_shape *shape, int max_len, error *e);
int layered_check_given(const layered_stack *s, const pe_shape *shape, double farthest, error *e);
/* The part of layered_check that is about training positions, for training goes on with sequences of len tokens. */
int layered_check_reach(const layered_stack *s, const pe_shape *shape, int len, error *e);
static inline const pe_stack *layered_at(const layered_stack *s, int layer)
{
    return &s->pattern[layer % s->count];
}

#endif
