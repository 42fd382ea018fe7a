/* json_get FILE PATH: prints a value of a JSON file, for tests in shell. In a path, 3 is the fourth element, * is every
 * element. Exit status 1: the file does not parse or there is no such value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static int json_get(const json_t *at, const char *path)
{
    if (!at)
        return 1;
    if (!*path) {
        if (json_is_string(at))
            return puts(json_string_value(at)) < 0;
        return json_dumpf(at, stdout, JSON_ENCODE_ANY | JSON_COMPACT) || puts("") < 0;
    }
    char word[256];
    size_t length = strcspn(path, ".");
    snprintf(word, sizeof word, "%.*s", (int)length, path);
    path += length + (path[length] == '.');
    if (!json_is_array(at))
        return json_get(json_object_get(at, word), path);
    if (strcmp(word, "*"))
        return json_get(json_array_get(at, strtoul(word, NULL, 10)), path);
    int status = 0;
    for (size_t i = 0; i < json_array_size(at); i++)
        status |= json_get(json_array_get(at, i), path);
    return status;
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = argc == 3 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;
    if (!root) {
        fprintf(stderr, "%s: %s\n", argc == 3 ? argv[1] : "usage: json_get FILE PATH", argc == 3 ? error.text : "");
        return 1;
    }
    int status = json_get(root, argv[2]);
    json_decref(root);
    return status;
}
