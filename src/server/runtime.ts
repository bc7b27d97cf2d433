// What depends on the runtime: whether this is the executable or the source, a cap of the runtime
// that must be lifted before it starts, the proxies that its client reads from the environment, and
// the memory that it may use.

import { totalmem } from 'node:os';

/** The path of the modules inside the executable. */
const EMBEDDED = '/$bunfs/';

/** Bun silently queues outgoing requests above 256; a gateway keeps each one open for minutes. */
const REQUESTS_VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS';
const REQUESTS_MAX = '65535';

export function isExecutable(): boolean {
  return process.argv[1]?.startsWith(EMBEDDED) ?? false;
}

/** How to call this program again, as a user would type it. */
export function programName(): string {
  return isExecutable() ? process.execPath : 'scripts/tollgate';
}

/** How to start this program again as a process, without its arguments. */
export function ownCommand(): string[] {
  if (isExecutable()) return [process.execPath];
  return [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
}

/** The variables that say where programs and temporary files are: no settings, and no secrets. */
export function systemVariables(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'SQLITE_TMPDIR'];
  const set = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(set);
}

/** Ends this process with its parent, whose end closes the input. */
export async function exitWithInput(): Promise<never> {
  for await (const _ of Bun.stdin.stream());
  process.exit(0);
}

/**
 * Restarts this process with the cap lifted, under the same process id. Returns only where the
 * variable lifts it already. Call it before anything is open.
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
 * Starts the thread of the runtime's HTTP client, which would start with its first request. The
 * runtime ends the process where it finds no file descriptor for that, and clients may have taken
 * all of them by then.
 */
export async function startHttpThread(): Promise<void> {
  // No socket is there, so nothing is sent.
  await fetch('http://localhost/', { unix: '/dev/null' }).catch(() => undefined);
}

/**
 * The schemes, as in `https:`, for which the environment names a proxy. The runtime's client reads
 * these variables and `NO_PROXY` itself.
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

/** Of this machine, or of the container if that has less. */
export function memoryBytes(): number {
  // Zero or undefined means that nothing constrains the process.
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
