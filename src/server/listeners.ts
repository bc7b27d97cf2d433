// Opens the listeners: the public address, which several nodes of one machine may share, and the
// operator's console.

import type { Awaitable } from '../async/awaitable.ts';
import { every, type Stop } from '../async/every.ts';
import type { Config } from '../config/settings.ts';
import { consolePortOf, urlOf } from '../config/urls.ts';
import { errorCodeOf } from '../core/message-of.ts';
import { type Sentence, say, wordsOf } from '../core/sentence.ts';
import type { Mount } from '../http/exchange.ts';
import {
  type GatewayServer,
  type ServerDependencies,
  startConsole,
  startServer,
} from '../http/server.ts';
import type { Log } from '../observe/log.ts';
import { OperationError } from '../operations/error.ts';

export type ConsoleListener = { readonly server: GatewayServer; readonly url: string };

export type Listeners = {
  readonly server: GatewayServer;
  /** Absent where the settings disable it, and while its port is in use. */
  readonly console: () => ConsoleListener | undefined;
  /** Warns that the console's port is in use. */
  readonly warnings: () => readonly Sentence[];
  readonly closeConsole: () => Promise<void>;
};

export type ListenerOptions = {
  readonly config: Pick<Config, 'host' | 'port' | 'reusePort' | 'operatorHost' | 'operatorPort'>;
  readonly dependencies: ServerDependencies;
  readonly answerConsole: Mount;
  /** Called when the console listens, at once or later. */
  readonly onConsole: (console: ConsoleListener) => Awaitable<void>;
  readonly log: Pick<Log, 'info' | 'warn'>;
};

/** How often a busy console port is tried again. */
const RETRY_MS = 5_000;

/**
 * Opens both. Retries a console port that is in use while the public listener serves: the console
 * must not keep the gateway from starting. Throws `address_unavailable`; then neither is open.
 */
export async function openListeners(options: ListenerOptions): Promise<Listeners> {
  const { config, dependencies, answerConsole, onConsole, log } = options;
  const { operatorHost } = config;
  const server = openPublic(dependencies, config);
  const consolePort = consolePortOf(config);
  const address = { hostname: operatorHost, port: consolePort ?? 0 };
  const where = `port ${consolePort} of ${operatorHost}`;
  let console: ConsoleListener | undefined;
  let stopRetrying: Stop | undefined;

  /** `false` where the port is in use. */
  async function openConsole(): Promise<boolean> {
    try {
      const opened = startConsole(dependencies, answerConsole, address);
      console = { server: opened, url: urlOf(operatorHost, opened.port) };
    } catch (cause) {
      if (isTaken(cause)) return false;
      throw unavailable(cause, where);
    }
    await onConsole(console);
    return true;
  }

  async function tryAgain(): Promise<void> {
    // The first attempt has ruled out any other problem with the address.
    if (!(await openConsole().catch(() => false))) return;
    stopRetrying?.();
    stopRetrying = undefined;
    log.info(`operator console on ${console?.url}`);
  }

  const warnings = (): Sentence[] =>
    stopRetrying === undefined
      ? []
      : [
          say(
            "the operator's console is not served, because port {port} of {host} is in use; stop what uses it, or choose another port with OPERATOR_PORT",
            { port: String(consolePort), host: operatorHost },
          ),
        ];

  try {
    if (consolePort !== undefined && !(await openConsole())) {
      stopRetrying = every(RETRY_MS, tryAgain);
      for (const warning of warnings()) log.warn(wordsOf(warning));
    }
  } catch (error) {
    await server.close();
    throw error;
  }
  return {
    server,
    console: () => console,
    warnings,
    async closeConsole() {
      stopRetrying?.();
      stopRetrying = undefined;
      await console?.server.close();
    },
  };
}

function openPublic(
  dependencies: ServerDependencies,
  { host, port, reusePort }: ListenerOptions['config'],
): GatewayServer {
  try {
    return startServer(dependencies, { hostname: host, port, reusePort: reusePort === 'on' });
  } catch (cause) {
    throw unavailable(cause, `port ${port} of ${host}`);
  }
}

function isTaken(cause: unknown): boolean {
  return errorCodeOf(cause) === 'EADDRINUSE';
}

function unavailable(cause: unknown, where: string): OperationError {
  return new OperationError(
    'address_unavailable',
    isTaken(cause)
      ? `The ${where} is in use. Stop what uses it, choose another one with PORT or --port, or set REUSE_PORT=on in all nodes that share it.`
      : `The server cannot listen on ${where}. Check HOST, PORT, OPERATOR_HOST and OPERATOR_PORT.`,
  );
}
