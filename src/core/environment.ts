// The environment variables of the process, by name. The command line reads them once and passes
// them to the settings, and to the catalog for its secrets.

export type Environment = Readonly<Record<string, string | undefined>>;
