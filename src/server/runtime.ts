// What this program has to know of the runtime that it runs on: whether it is the executable or
// source, a cap of the runtime that can only be lifted before it starts, and the proxies that its
// client takes from the environment.

/** The executable carries its modules under this path. */
const EMBEDDED = '/$bunfs/';

/** Bun queues outgoing requests above 256, silently; a gateway holds one for minutes each. */
const REQUESTS_VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS';
const REQUESTS_MAX = '65535';

export function isExecutable(): boolean {
  return process.argv[1]?.startsWith(EMBEDDED) ?? false;
}

/** How to call this program again, in the words that a user would type. */
export function programName(): string {
  return isExecutable() ? process.execPath : 'scripts/tollgate';
}

/**
 * Starts this same process anew, under the same id, with the cap lifted. Returns only where it is
 * lifted already, by this function or by whoever set the variable. Call it before anything is open.
 */
export function liftRequestCap(): void {
  if (process.env[REQUESTS_VARIABLE] !== undefined || process.execve === undefined) return;
  const own = isExecutable()
    ? process.argv.slice(2)
    : [...process.execArgv, ...process.argv.slice(1)];
  const environment: Record<string, string> = { [REQUESTS_VARIABLE]: REQUESTS_MAX };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined) environment[name] = value;
  }
  process.execve(process.execPath, [process.argv0, ...own], environment);
}

/**
 * The schemes, as in `https:`, for which the environment names a proxy. The runtime's client reads
 * the same variables, and `NO_PROXY`, by itself.
 */
export function proxiedSchemes(
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlySet<string> {
  const names = ['http', 'https'].filter((scheme) => {
    const variable = `${scheme}_proxy`;
    return (environment[variable] ?? environment[variable.toUpperCase()] ?? '') !== '';
  });
  return new Set(names.map((scheme) => `${scheme}:`));
}
