// Makes connections: a name to addresses, one address after the other, TLS with its certificate and
// its name verified, all within one deadline. Called by the pool's owner where no idle connection
// is left.

import type { Socket } from 'bun';
import { withTimeout } from '../../async/timeout.ts';
import { isFailure, type UpstreamFailure } from '../../core/failure.ts';
import { whenAborted } from '../fetch-client.ts';
import type { StopSignal } from '../stop.ts';
import { type TransportDependencies, UNCONNECTED } from '../transport.ts';
import { Connection, SOCKET_HANDLERS, type SocketEvents } from './connection.ts';
import type { Origin } from './origin.ts';

type Dial = (
  origin: Origin,
  connectMs: number,
  signal: StopSignal,
) => Promise<Connection | UpstreamFailure>;

/** By the key of an origin. */
type TlsSessions = Map<string, Buffer>;

/** As TLS wants it: each name after its length. */
const HTTP_1_1 = Buffer.from('\x08http/1.1', 'latin1');

export function createDial(
  { resolver, monotonic, descriptors }: TransportDependencies,
  sessions: TlsSessions,
): Dial {
  return async (origin, connectMs, signal) => {
    const untilMs = monotonic() + connectMs;
    const late: UpstreamFailure = {
      class: 'timeout',
      phase: 'connect',
      detail: `no connection within ${connectMs} ms`,
    };
    const aborted = whenAborted(signal).then(() => UNCONNECTED);
    const within = <T>(ms: number, result: Promise<T>) =>
      withTimeout(Math.max(0, ms), Promise.race([result, aborted]), late);
    const named = resolver.resolve(origin.hostname, origin.allowLinkLocal);
    const addresses = await within(connectMs, named);
    if (isFailure(addresses)) return addresses;
    let failure = late;
    for (const [index, address] of addresses.entries()) {
      // Each address gets its share of what time is left, or one that is silent would take it all.
      const shareMs = (untilMs - monotonic()) / (addresses.length - index);
      // The runtime would call it refused by the upstream, whose fault it is not.
      if (!descriptors.lend()) return NO_DESCRIPTOR;
      const opening = openConnection(origin, address, sessions, descriptors.returned);
      const opened = await within(shareMs, opening.result);
      if (!isFailure(opened)) return opened;
      opening.cancel();
      if (opened === UNCONNECTED) return opened;
      failure = opened;
    }
    resolver.forget(origin.hostname);
    return failure;
  };
}

type Opening = {
  /** Never rejects. Never settles where the other side accepts and then says nothing. */
  readonly result: Promise<Connection | UpstreamFailure>;
  /** The connection is not wanted any more. */
  readonly cancel: () => void;
};

function openConnection(
  origin: Origin,
  address: string,
  sessions: TlsSessions,
  onClose: () => void,
): Opening {
  const { promise, resolve } = Promise.withResolvers<Connection | UpstreamFailure>();
  let socket: Socket<SocketEvents> | undefined;
  let isCancelled = false;
  let isClosed = false;

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    onClose();
  }

  function onOpen(opened: Socket<SocketEvents>): void {
    socket = opened;
    if (isCancelled) opened.terminate();
    else if (!origin.isTls) resolve(new Connection(opened));
    else resume(opened);
  }

  /** A session is used once: who sees two handshakes shall not know that they belong together. */
  function resume(opened: Socket<SocketEvents>): void {
    const session = sessions.get(origin.key);
    sessions.delete(origin.key);
    if (session !== undefined) opened.setSession(session);
  }

  function onHandshake(
    secured: Socket<SocketEvents>,
    isVerified: boolean,
    error: Error | null,
  ): void {
    if (isVerified) resolve(new Connection(secured));
    else {
      resolve(failed('no TLS connection could be made', error));
      secured.terminate();
    }
  }

  const connecting = Bun.connect<SocketEvents>({
    hostname: address,
    port: origin.port,
    data: NOWHERE,
    ...(origin.isTls ? { tls: { serverName: origin.hostname, ALPNProtocols: HTTP_1_1 } } : {}),
    socket: {
      ...SOCKET_HANDLERS,
      open: onOpen,
      ...(origin.isTls ? { handshake: onHandshake } : {}),
      close(closed, error) {
        close();
        resolve(failed('the connection closed while it was made', error));
        closed.data.close(error);
      },
    },
  });
  connecting.catch((error) => {
    close();
    resolve(failed('no connection could be made', error));
  });
  return {
    result: promise,
    cancel() {
      isCancelled = true;
      socket?.terminate();
    },
  };
}

export const NO_DESCRIPTOR: UpstreamFailure = {
  class: 'gateway',
  detail: 'the process has no file descriptor left',
};

const NOTHING = (): void => {};
/** For as long as a socket belongs to no connection. */
const NOWHERE: SocketEvents = { data: NOTHING, drain: NOTHING, end: NOTHING, close: NOTHING };

/** The code is the runtime's own word; its message may name hosts and certificates. */
function failed(detail: string, error: unknown): UpstreamFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const shown = /^[A-Z][A-Z0-9_]*$/.test(code) ? `${detail} (${code})` : detail;
  return { class: 'unreachable', phase: 'connect', detail: shown };
}
