// One connection to an upstream: bytes out, bytes in, and its end. Made by dial.ts, kept by pool.ts
// between requests, and used by one exchange at a time. It knows nothing of HTTP. The runtime sets
// no idle timeout on its sockets: only the attempts' own timers end a silent stream.

import type { Socket, SocketHandler } from 'bun';
import { discard } from '../../async/discard.ts';

/** When the kernel asks a silent peer whether it is still there; ten times then, each second. */
const PROBE_MS = 30_000;

/** Uses the connection. */
export type Receiver = {
  /** The bytes of one read, in memory of their own. */
  readonly data: (bytes: Buffer) => void;
  /** The last call. `inOrder`: the other side had no more to say, and nothing was lost. */
  readonly closed: (inOrder: boolean) => void;
};

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
  // A broken TLS record, or a mistake of ours in a handler: `close` reaches the receiver.
  error: (socket) => socket.terminate(),
} as const satisfies SocketHandler<SocketEvents>;

export class Connection implements SocketEvents {
  isOpen = true;
  /** While it is idle: when it is to be closed. */
  idleUntilMs = 0;
  private readonly socket: Socket<SocketEvents>;
  private receiver: Receiver | undefined;
  /** Nothing was asked on it: the other side must say nothing. */
  private isIdle = false;
  private isEnded = false;
  private isPaused = false;
  private unsent: Buffer | undefined;
  private sentBytes = 0;

  /** Takes over a socket that is connected and, with TLS, verified. */
  constructor(socket: Socket<SocketEvents>) {
    this.socket = socket;
    // Head and body leave in one write, and nothing waits for more to send.
    socket.setNoDelay(true);
    socket.setKeepAlive(true, PROBE_MS);
    socket.data = this;
  }

  /** What comes from now on goes there. */
  receive(receiver: Receiver): void {
    this.receiver = receiver;
    this.isIdle = false;
  }

  /** Nothing is asked on it until then, at most. */
  rest(untilMs: number): void {
    this.idleUntilMs = untilMs;
    this.receiver = undefined;
    this.isIdle = true;
  }

  /**
   * Writes as fast as the other side takes it, and discards what was written. Only what was written
   * before must be away.
   */
  write(bytes: Buffer): void {
    this.unsent = bytes;
    this.sentBytes = 0;
    this.drain();
  }

  /** Whether everything is with the kernel. */
  isWritten(): boolean {
    return this.unsent === undefined;
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.socket.resume();
  }

  /** What could make another TLS handshake with the same server shorter. */
  tlsSession(): Buffer | undefined {
    const session: unknown = this.socket.getSession();
    return Buffer.isBuffer(session) ? session : undefined;
  }

  /** Ends an idle connection in good order. */
  finish(): void {
    this.isOpen = false;
    this.socket.end();
  }

  /** Resets a connection that is in use: the other side knows at once. */
  abort(): void {
    this.isOpen = false;
    this.socket.terminate();
  }

  data(bytes: Buffer): void {
    if (!this.isOpen) return;
    if (this.isIdle) this.abort();
    else this.receiver?.data(bytes);
  }

  drain(): void {
    const { unsent, sentBytes } = this;
    if (unsent === undefined) return;
    // The length is named because the runtime's default leaves the offset out of account.
    const taken = this.socket.write(unsent, sentBytes, unsent.length - sentBytes);
    if (taken > 0) this.sentBytes += taken;
    if (this.sentBytes < unsent.length) return;
    this.unsent = undefined;
    discard(unsent);
  }

  end(): void {
    this.isEnded = true;
  }

  close(error: Error | undefined): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.receiver?.closed(this.isEnded && error === undefined);
  }
}
