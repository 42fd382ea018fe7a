/* kernels.c - each kernel's name stands for the one of this processor's level, chosen by the loader before the program runs.
 * Compiled only when there is more than one level.
 */
#include "adamw_step.h"
#include "layers.h"
#include "level.h"
#include "product.h"
#include "softmax.h"
#include "vmath.h"

/* The chooser is called while the program is still being put together: it may touch nothing but registers and the stack. */
#define KERNEL(result, name, parameters)                                                                               \
    result name##_base parameters;                                                                                     \
    result name##_v3 parameters;                                                                                       \
    result name##_v4 parameters;                                                                                       \
    static __typeof__(name) *kernel_choose_##name(void)                                                                \
    {                                                                                                                  \
        int level = level_of_cpu();                                                                                    \
        return level == LEVEL_V4 ? name##_v4 : level == LEVEL_V3 ? name##_v3 : name##_base;                            \
    }                                                                                                                  \
    result name parameters __attribute__((ifunc("kernel_choose_" #name)));
#include "kernel_list.h"
