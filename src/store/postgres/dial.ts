// Opens one connection to a PostgreSQL server, and encrypts it first where that is required. Called
// by the session.

import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { withTimeout } from '../../async/timeout.ts';
import type { PostgresTarget } from '../../core/postgres-url.ts';
import { PostgresFailure } from './error.ts';

type Way = Pick<PostgresTarget, 'host' | 'port' | 'sslmode'> & {
  /** Certificates in PEM; default: the public authorities. */
  readonly authorities: string | undefined;
};

/** A message without a kind: asks whether the server supports TLS. One letter answers it. */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);
const WILLING = 'S'.charCodeAt(0);

/** Rejects with the system's error or `PostgresFailure`; then no connection is left. */
export async function dial(way: Way, timeoutMs: number): Promise<Socket> {
  const { host, port } = way;
  const plain = connect({ host, port, noDelay: true, keepAlive: true });
  try {
    const socket = await withTimeout(timeoutMs, begin(plain, way));
    if (socket === undefined) throw failed('the server did not take it in time');
    return socket;
  } catch (cause) {
    plain.destroy();
    throw cause;
  }
}

async function begin(plain: Socket, way: Way): Promise<Socket> {
  await next(plain, 'connect');
  return way.sslmode === 'disable' ? plain : encrypt(plain, way);
}

async function encrypt(plain: Socket, { host, sslmode, authorities }: Way): Promise<Socket> {
  plain.write(SSL_REQUEST);
  const answer = await next(plain, 'data');
  if (answer?.[0] !== WILLING) throw failed('sslmode asks for encryption, and the server has none');
  // Bytes after the letter were not encrypted, and may be forged.
  if (answer.length > 1) throw failed('the server sent data before it was encrypted');
  const secure = connectSecurely({
    socket: plain,
    host,
    rejectUnauthorized: sslmode === 'verify-full',
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(authorities === undefined ? {} : { ca: authorities }),
  });
  await next(secure, 'secureConnect');
  return secure;
}

/** The argument of the next event with this name. */
function next(socket: Socket, event: string): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(failed('the server closed it')));
  });
}

const failed = (why: string): PostgresFailure =>
  new PostgresFailure(
    'CONNECT',
    `The connection to PostgreSQL failed: ${why}. Check that it runs, and DATABASE_URL.`,
  );
