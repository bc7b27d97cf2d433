// The variables that the program was started with, by name. The command line gathers them once and
// hands them to what reads some of them: the settings, and the catalog for its secrets.

export type Environment = Readonly<Record<string, string | undefined>>;
