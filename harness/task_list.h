/* task_list.h - the tasks, one a line; the order is that of lists.
 *
 * Include it with TASK defined. The build takes its sources from the same lines: TASK(x) stands for task_x.c, which
 * defines task_descriptor_x; when there is no such file, another task's file defines it (a family may share one).
 */
#ifndef TASK
#define TASK(name)
#endif

TASK(unique_copy)
TASK(repeat_copy)
TASK(copy)
TASK(reverse)
TASK(duplicate_string)
TASK(odds_first)
TASK(missing_duplicate)
TASK(sort)
TASK(sort_numbers)
TASK(bucket_sort)
TASK(binary_majority)
TASK(majority)
TASK(interleaved_majority)
TASK(parity)
TASK(even_pairs)
TASK(cycle_navigation)
TASK(counting)
TASK(flip_flop)
TASK(modular_arithmetic)
TASK(solve_equation)
TASK(addition)
TASK(multiplication)
TASK(sum)
TASK(polynomial)
TASK(square_root)
TASK(stack_manipulation)
TASK(dyck)
TASK(mqar)
TASK(passkey)
TASK(induction)
TASK(variable_tracking)
TASK(scan)
TASK(lego)
TASK(pcfg)
TASK(text)
TASK(masked_text)

#undef TASK
