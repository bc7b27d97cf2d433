// Opens connections: resolves the name, tries one address after the other, and verifies the TLS
// certificate and name, all within one deadline. Called when no idle connection is left.

import type { Socket } from 'bun';
import { withTimeout } from '../../async/timeout.ts';
import { isFailure, type UpstreamFailure } from '../../core/failure.ts';
import { errorCodeOf } from '../../core/message-of.ts';
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

/** The ALPN format: each name preceded by its length. */
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
      // Each address gets a share of the remaining time, so that a silent one cannot use it all.
      const shareMs = (untilMs - monotonic()) / (addresses.length - index);
      // The runtime would report it as refused by the upstream, which is not at fault.
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
  /** Never rejects. Does not settle if the other side accepts and then stays silent. */
  readonly result: Promise<Connection | UpstreamFailure>;
  /** Cancels the connection attempt. */
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

  /** A session is used once, so that an observer of two handshakes cannot link them. */
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
/** While a socket belongs to no connection. */
const NOWHERE: SocketEvents = { data: NOTHING, drain: NOTHING, end: NOTHING, close: NOTHING };

/**
 * The code comes from the runtime; its message is dropped because it may name hosts and
 * certificates.
 */
function failed(detail: string, error: unknown): UpstreamFailure {
  const code = errorCodeOf(error);
  const shown = /^[A-Z][A-Z0-9_]*$/.test(code) ? `${detail} (${code})` : detail;
  return { class: 'unreachable', phase: 'connect', detail: shown };
}
