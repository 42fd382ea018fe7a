/* command_list.h - one line for each command, in the order of the help; bench/cmd_<name>.c is its file. TWIN_COMMAND: it
 * computes in double precision too, in the twin of the program, which has no others. */
COMMAND(list)
COMMAND(show)
TWIN_COMMAND(check)
TWIN_COMMAND(golden)
COMMAND(run)
COMMAND(sweep)
COMMAND(collect)
COMMAND(report)
COMMAND(compare)
COMMAND(profile)
COMMAND(speed)
COMMAND(help)
