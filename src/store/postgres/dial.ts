// The way to a server of PostgreSQL: one connection, made once. Called by the session.

import { connect, type Socket } from 'node:net';
import { PostgresFailure } from './error.ts';

/** What postgres.js has read out of the URL. */
export type Target = {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
  readonly ssl: unknown;
};

/** The first server of the URL that takes a connection. */
export async function reach({ host, port, path }: Target, timeoutMs: number): Promise<Socket> {
  if (path !== false) return dial({ path }, timeoutMs);
  let failure: unknown = failed('its URL names no server');
  for (const [index, name] of host.entries()) {
    try {
      const socket = await dial({ host: name, port: port[index] ?? 5432 }, timeoutMs);
      // Where the connection is encrypted, the certificate has to be of this server.
      return Object.assign(socket, { host: name });
    } catch (cause) {
      failure = cause;
    }
  }
  throw failure;
}

function dial(
  target: { path: string } | { host: string; port: number },
  timeoutMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...target, noDelay: true, keepAlive: true });
    const timer = setTimeout(() => fail(failed('the server did not take it in time')), timeoutMs);
    const fail = (cause: unknown): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(cause);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

const failed = (why: string): PostgresFailure =>
  new PostgresFailure(
    'CONNECT',
    `The connection to PostgreSQL failed: ${why}. Check that it runs, and DATABASE_URL.`,
  );
