// One connection to an upstream: writes, reads and its end. dial.ts creates it, pool.ts keeps it
// between requests, and one exchange uses it at a time. It contains no HTTP. The sockets have no
// idle timeout: only the attempts' timers end a silent stream.

import type { Socket, SocketHandler } from 'bun';
import { discard } from '../../async/discard.ts';

/** TCP keep-alive: the first probe after this silence, then ten probes one second apart. */
const PROBE_MS = 30_000;

/** The current user of the connection. */
export type Receiver = {
  /** The bytes of one read, in their own memory. */
  readonly data: (bytes: Buffer) => void;
  /** The last call. `inOrder`: the other side closed cleanly and nothing was lost. */
  readonly closed: (inOrder: boolean) => void;
};

/** The socket's `data`: the receiver of its events. */
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
  // A broken TLS record, or a bug in a handler: `close` reaches the receiver.
  error: (socket) => socket.terminate(),
} as const satisfies SocketHandler<SocketEvents>;

export class Connection implements SocketEvents {
  isOpen = true;
  /** While idle: when to close it. */
  idleUntilMs = 0;
  private readonly socket: Socket<SocketEvents>;
  private receiver: Receiver | undefined;
  /** No request is in progress, so the other side must not send anything. */
  private isIdle = false;
  private isEnded = false;
  private isPaused = false;
  private unsent: Buffer | undefined;
  private sentBytes = 0;

  /** Takes over a connected socket whose certificate, with TLS, is verified. */
  constructor(socket: Socket<SocketEvents>) {
    this.socket = socket;
    // Head and body are one write, so there is nothing to wait for.
    socket.setNoDelay(true);
    socket.setKeepAlive(true, PROBE_MS);
    socket.data = this;
  }

  /** Directs all further events to `receiver`. */
  receive(receiver: Receiver): void {
    this.receiver = receiver;
    this.isIdle = false;
  }

  /** Marks the connection as idle until `untilMs` at most. */
  rest(untilMs: number): void {
    this.idleUntilMs = untilMs;
    this.receiver = undefined;
    this.isIdle = true;
  }

  /**
   * Writes as fast as the other side accepts, and discards what was written. The previous write
   * must have completed.
   */
  write(bytes: Buffer): void {
    this.unsent = bytes;
    this.sentBytes = 0;
    this.drain();
  }

  /** Whether all bytes were passed to the kernel. */
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

  /** The TLS session, which may shorten another handshake with the same server. */
  tlsSession(): Buffer | undefined {
    const session: unknown = this.socket.getSession();
    return Buffer.isBuffer(session) ? session : undefined;
  }

  /** Closes an idle connection cleanly. */
  finish(): void {
    this.isOpen = false;
    this.socket.end();
  }

  /** Resets a connection in use, so that the other side notices immediately. */
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
    // The length is explicit because the runtime's default ignores the offset.
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
