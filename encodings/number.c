/* number.c - numbers as text, the same in every locale: printf and strtod follow the user's decimal point, so both are
 * wrapped, and only the grammar below is let through. */
#include "options.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_DIGITS = 17, NUMBER_TEXT_MAX = 512 };

/* Splits |value| into its decimal digits (without the point) and the exponent of the first one. */
static int number_digits(double value, int precision, char digits[NUMBER_DIGITS + 1])
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", precision - 1, value);
    int count = 0;
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[count++] = *at;
    digits[count] = '\0';
    return atoi(at + 1);
}

/* Both notations are built by hand, because %g writes 10000 as 1e+04 once one digit is enough. */
static void number_layout(const char *digits, int exponent, char *out, size_t size)
{
    int count = (int)strlen(digits);
    if (exponent < -4 || exponent > 15)
        snprintf(out, size, "%c%s%se%c%02d", digits[0], count > 1 ? "." : "", digits + 1, exponent < 0 ? '-' : '+',
                 abs(exponent));
    else if (exponent < 0)
        snprintf(out, size, "0.%.*s%s", -exponent - 1, "0000", digits);
    else if (count <= exponent + 1)
        snprintf(out, size, "%s%.*s", digits, exponent + 1 - count, "0000000000000000");
    else
        snprintf(out, size, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}

void number_print(double value, char *text, size_t size)
{
    const char *sign = signbit(value) ? "-" : "";
    if (!isfinite(value)) {
        snprintf(text, size, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    char digits[NUMBER_DIGITS + 1], body[64];
    for (int precision = 1; precision <= NUMBER_DIGITS; precision++) {
        int exponent = number_digits(fabs(value), precision, digits);
        number_layout(digits, exponent, body, sizeof body);
        double back;
        if (number_parse(body, &back) == 0 && back == fabs(value))
            break;
    }
    snprintf(text, size, "%s%s", sign, body);
}

static const char *number_skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit on at least one side of the point. Sets *point to the point, or
 * NULL. strtod alone would take "0x10", "inf", "nan(1)" and leading spaces. */
static int number_is_decimal(const char *text, const char **point)
{
    const char *at = text + (*text == '+' || *text == '-');
    const char *whole = at;
    at = number_skip_digits(at);
    int digits = (int)(at - whole);
    *point = NULL;
    if (*at == '.') {
        *point = at++;
        const char *fraction = at;
        at = number_skip_digits(at);
        digits += (int)(at - fraction);
    }
    if (digits == 0)
        return 0;
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        const char *power = at;
        at = number_skip_digits(at);
        if (at == power)
            return 0;
    }
    return *at == '\0';
}

int number_parse(const char *text, double *value)
{
    const char *point;
    char local[NUMBER_TEXT_MAX + 16];
    if (strlen(text) >= NUMBER_TEXT_MAX || !number_is_decimal(text, &point))
        return -1;
    if (point)
        snprintf(local, sizeof local, "%.*s%s%s", (int)(point - text), text, localeconv()->decimal_point, point + 1);
    else
        snprintf(local, sizeof local, "%s", text);
    double read = strtod(local, NULL);
    if (!isfinite(read))
        return -1;
    *value = read;
    return 0;
}
