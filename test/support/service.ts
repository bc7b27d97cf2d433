// A third-party server program (PostgreSQL, Redis) in a temporary directory, on its own port. Its
// processes are found by their working directory, never by name. A guardian process ends them and
// removes the directory, however this process ends.

import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Service = {
  readonly port: number;
  readonly directory: string;
  /** All that the program has written about itself. */
  readonly log: () => string;
  /** SIGKILL to all of its processes; `start` starts again on the same port. */
  readonly kill: () => Promise<void>;
  /** Starts what does not run, and waits until it answers. */
  readonly start: () => Promise<void>;
  /** SIGSTOP to all of its processes: connections stay, without an answer. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends it, in any state, and removes its directory. */
  readonly stop: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export type ServiceSource = {
  readonly name: string;
  readonly port: number;
  readonly directory: string;
  readonly command: readonly string[];
  readonly isReady: () => Promise<boolean>;
};

/** Ends the main process and resolves when all of its processes are gone. */
export type StoppableService = Service & {
  readonly shutDown: (signal: NodeJS.Signals) => Promise<void>;
};

const START_MS = 20_000;

/** A new directory for a service, by its real path, as processes name it that work there. */
export async function serviceDirectory(name: string): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), `tollgate-${name}-`)));
}

export async function startService(source: ServiceSource): Promise<StoppableService> {
  const { directory, port, name } = source;
  const guardian = startGuardian(directory);
  const logPath = join(directory, 'log');
  const log = () => readFileSync(logPath, 'utf8');
  let child: Bun.Subprocess | undefined;

  async function start(): Promise<void> {
    const file = openSync(logPath, 'a', 0o666);
    child = Bun.spawn([...source.command], {
      cwd: directory,
      stdin: 'ignore',
      stdout: file,
      stderr: file,
      // Neither waits for us, nor hears an interrupt that was meant for us.
      detached: true,
    });
    closeSync(file);
    child.unref();
    await waitUntilReady(child);
  }

  async function waitUntilReady(started: Bun.Subprocess): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!(await source.isReady())) {
      if (started.exitCode !== null || started.signalCode !== null) {
        throw new Error(`${name} ended before it answered: ${log()}`);
      }
      if (Date.now() > deadline) throw new Error(`${name} did not answer: ${log()}`);
      await Bun.sleep(5);
    }
  }

  async function waitUntilGone(): Promise<void> {
    await child?.exited;
    const deadline = Date.now() + START_MS;
    while (processesIn(directory).length > 0) {
      if (Date.now() > deadline) throw new Error(`${name} did not end: ${log()}`);
      await Bun.sleep(5);
    }
  }

  async function kill(): Promise<void> {
    signalAll(directory, 'SIGKILL');
    await waitUntilGone();
  }

  async function shutDown(signal: NodeJS.Signals): Promise<void> {
    child?.kill(signal);
    await waitUntilGone();
  }

  async function stop(): Promise<void> {
    guardian.stdin.end();
    await guardian.exited;
  }

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    directory,
    log,
    kill,
    start,
    pause: () => signalAll(directory, 'SIGSTOP'),
    resume: () => signalAll(directory, 'SIGCONT'),
    shutDown,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** When its input ends, which it does with this process at the latest, it clears up. */
const GUARDIAN = `
directory="$1"
cat >/dev/null
for round in 1 2 3; do
  for process in /proc/[0-9]*; do
    case "$(readlink "$process/cwd" 2>/dev/null)/" in
      "$directory"/*) kill -KILL "\${process#/proc/}" 2>/dev/null ;;
    esac
  done
  rm -rf "$directory" 2>/dev/null && break
done`;

function startGuardian(directory: string) {
  const guardian = Bun.spawn(['sh', '-c', GUARDIAN, 'guardian', directory], {
    cwd: '/',
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    detached: true,
  });
  guardian.unref();
  return guardian;
}

/** Again while there are new ones: a process may have started another one in the meantime. */
function signalAll(directory: string, signal: NodeJS.Signals): void {
  const signalled = new Set<number>();
  for (;;) {
    const unsignalled = processesIn(directory).filter((pid) => !signalled.has(pid));
    if (unsignalled.length === 0) return;
    for (const pid of unsignalled) {
      signalled.add(pid);
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended by itself.
      }
    }
  }
}

/** Dead processes that are not reaped yet work nowhere, so they are none. */
function processesIn(directory: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid))
    .filter((pid) => {
      try {
        return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${directory}/`);
      } catch {
        return false;
      }
    });
}
