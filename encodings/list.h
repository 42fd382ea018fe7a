/* list.h - every built-in encoding and position map, one a line; the order is that of lists and legends.
 *
 * Include it with PE_ENCODING and PE_MAP defined, or with one of them. The build takes its sources from the same lines:
 * PE_ENCODING(x) stands for x.c, which defines pe_encoding_x; PE_MAP(x) for map_x.c, which defines pe_map_x.
 */
#ifndef PE_ENCODING
#define PE_ENCODING(name)
#endif
#ifndef PE_MAP
#define PE_MAP(name)
#endif

PE_ENCODING(nope)
PE_ENCODING(learned)
PE_ENCODING(sinusoidal)
PE_ENCODING(shaw)
PE_ENCODING(txl)
PE_ENCODING(t5)
PE_ENCODING(alibi)
PE_ENCODING(dpb)
PE_ENCODING(kerple)
PE_ENCODING(sandwich)
PE_ENCODING(fire)
PE_ENCODING(rope)
PE_ENCODING(xpos)
PE_ENCODING(pope)
PE_ENCODING(rerope)
PE_ENCODING(cope)
PE_ENCODING(fox)
PE_ENCODING(dape)
PE_ENCODING(logn)
PE_ENCODING(ssmax)
PE_ENCODING(temper)
PE_ENCODING(window)

PE_MAP(identity)
PE_MAP(interpolate)
PE_MAP(clamp)
PE_MAP(shift)
PE_MAP(random)
PE_MAP(random_float)
PE_MAP(cape)
PE_MAP(task)

#undef PE_ENCODING
#undef PE_MAP
