// One connection to an upstream: bytes out, bytes in, and its end. Made by dial.ts, kept by pool.ts
// between requests, and used by one exchange at a time. It knows nothing of HTTP. The runtime sets
// no idle timeout on its sockets: only the attempts' own timers end a silent stream.

import type { Socket, SocketHandler } from 'bun';

/** When the kernel asks a silent peer whether it is still there; ten times then, each second. */
const PROBE_MS = 30_000;

/** Whoever uses the connection now. */
type Receiver = {
  /** The bytes of one read, in memory of their own. */
  readonly data: (bytes: Buffer) => void;
  /** The last call. `inOrder`: the other side had no more to say, and nothing was lost. */
  readonly closed: (inOrder: boolean) => void;
};

export type Connection = ReturnType<typeof createConnection>;

/** The socket's `data`: where its events go. */
export type SocketEvents = {
  readonly data: (bytes: Buffer) => void;
  readonly drain: () => void;
  readonly end: () => void;
  readonly close: (error: Error | undefined) => void;
};

/** One set of handlers for all sockets. */
export const SOCKET_HANDLERS = {
  data: (socket, bytes) => socket.data.data(bytes),
  drain: (socket) => socket.data.drain(),
  end: (socket) => socket.data.end(),
  close: (socket, error) => socket.data.close(error),
  // A broken TLS record, or a mistake of ours in a handler: `close` tells whoever waits.
  error: (socket) => socket.terminate(),
} as const satisfies SocketHandler<SocketEvents>;

/** Takes over a socket that is connected and, with TLS, verified. */
export function createConnection(socket: Socket<SocketEvents>, first: Receiver) {
  // Head and body leave in one write, and nothing waits for more to send.
  socket.setNoDelay(true);
  socket.setKeepAlive(true, PROBE_MS);
  let receiver = first;
  let isOpen = true;
  let isEnded = false;
  let isPaused = false;
  let unsent: Buffer | undefined;
  let sentBytes = 0;

  function flush(): void {
    if (unsent === undefined) return;
    // The length is named because the runtime's default leaves the offset out of account.
    const taken = socket.write(unsent, sentBytes, unsent.length - sentBytes);
    if (taken > 0) sentBytes += taken;
    if (sentBytes === unsent.length) unsent = undefined;
  }

  socket.data = {
    data(bytes) {
      if (isOpen) receiver.data(bytes);
    },
    drain: flush,
    end() {
      isEnded = true;
    },
    close(error) {
      if (!isOpen) return;
      isOpen = false;
      receiver.closed(isEnded && error === undefined);
    },
  };
  return {
    isOpen: () => isOpen,
    /** Hands all that comes from now on to somebody else. */
    receive(next: Receiver): void {
      receiver = next;
    },
    /** Writes as fast as the other side takes it. Only what was written before must be away. */
    write(bytes: Buffer): void {
      unsent = bytes;
      sentBytes = 0;
      flush();
    },
    /** Whether everything is with the kernel. */
    isWritten: () => unsent === undefined,
    pause() {
      if (isPaused) return;
      isPaused = true;
      socket.pause();
    },
    resume() {
      if (!isPaused) return;
      isPaused = false;
      socket.resume();
    },
    /** What could make another TLS handshake with the same server shorter. */
    tlsSession(): Buffer | undefined {
      const session: unknown = socket.getSession();
      return Buffer.isBuffer(session) ? session : undefined;
    },
    /** Ends an idle connection in good order. */
    close() {
      isOpen = false;
      socket.end();
    },
    /** Resets a connection that is in use: the other side knows at once. */
    abort() {
      isOpen = false;
      socket.terminate();
    },
  };
}
