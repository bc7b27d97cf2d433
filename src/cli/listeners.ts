// Where a server listens: one address for the public, and one for the operator's console. Made by
// serve, which says what is answered there.

import { type Config, httpUrl } from '../config.ts';
import type { Awaitable } from '../core/awaitable.ts';
import type { Mount } from '../http/exchange.ts';
import { type GatewayServer, type ServerDependencies, startConsole } from '../http/server.ts';
import { CommandError } from './command.ts';

export type Listeners = {
  readonly server: GatewayServer;
  /** Absent where the settings want none. */
  readonly console: { readonly server: GatewayServer; readonly url: string } | undefined;
};

/** Opens both, the public one by `listen`, or none. Throws `address_unavailable`. */
export async function openListeners(
  config: Pick<Config, 'host' | 'port' | 'operatorHost' | 'operatorPort'>,
  dependencies: ServerDependencies,
  answerConsole: Mount,
  listen: () => Awaitable<GatewayServer>,
): Promise<Listeners> {
  const { host, port, operatorHost } = config;
  const server = await open(listen, `port ${port} of ${host}`, 'with PORT or --port');
  const consolePort = consolePortOf(config);
  if (consolePort === undefined) return { server, console: undefined };
  try {
    const console = await open(
      () =>
        startConsole(dependencies, answerConsole, { hostname: operatorHost, port: consolePort }),
      `port ${consolePort} of ${operatorHost}, for the operator's console,`,
      'with OPERATOR_PORT, or have no console with OPERATOR_PORT=off',
    );
    return { server, console: { server: console, url: urlOf(operatorHost, console.port) } };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Where the console listens: 0 is any free port, `undefined` is nowhere. */
export function consolePortOf({
  port,
  operatorPort,
}: Pick<Config, 'port' | 'operatorPort'>): number | undefined {
  if (operatorPort === 'off') return undefined;
  if (operatorPort !== undefined) return operatorPort;
  return port === 0 || port === 65_535 ? 0 : port + 1;
}

async function open(
  start: () => Awaitable<GatewayServer>,
  where: string,
  how: string,
): Promise<GatewayServer> {
  try {
    return await start();
  } catch (cause) {
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    throw new CommandError(
      'address_unavailable',
      taken
        ? `The ${where} is in use. Stop what uses it, or choose another one ${how}.`
        : `The server cannot listen on ${where}. Check HOST, PORT, OPERATOR_HOST and OPERATOR_PORT.`,
    );
  }
}

export function urlOf(host: string, port: number): string {
  const open = host === '0.0.0.0' || host === '::';
  return `${httpUrl(open ? 'localhost' : host, port)}/operator`;
}
