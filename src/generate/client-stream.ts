// The client's end of a stream: writes text or bytes straight to the socket of the runtime's server.
// Reports backpressure and client disconnects.

/** Kept, in characters or bytes, until the runtime sends the response. */
const EARLY_LENGTH_MAX = 65_536;

/**
 * How long a client may stall without reading. After that its connection is closed, because its
 * upstream waits with it, and has a place less for other accounts.
 */
const STALL_MS = 10_000;

/**
 * What a client takes gives it time again, up to `STALL_MS`: one that reads 16 KB/s is never cut, and
 * one that takes a little each time is.
 */
const TAKEN_BYTES_PER_MS = 16;

type Data = string | Uint8Array;

/** The runtime's writer. It keeps all it is given; `write` promises when the client has caught up. */
export type Sink = Pick<ReadableStreamDirectController, 'write' | 'flush' | 'close'>;

/** It is the source of its own body. */
export class ClientStream implements Bun.DirectUnderlyingSource {
  readonly type = 'direct';
  readonly body: ReadableStream<Uint8Array>;
  readonly #onGone: () => void;
  readonly #stallMs: number;
  #sink: Sink | undefined;
  /** What was written before there was a sink. */
  readonly #early: Data[] = [];
  #earlyLength = 0;
  /** Resolved when there is room again. Every blocked writer waits for it, heartbeats included. */
  #room: PromiseWithResolvers<void> | undefined;
  #stalled: Timer | undefined;
  #stalledAt = 0;
  /** How long it may still stall. */
  #patienceMs: number;
  #broken: Error | undefined;
  #state: 'open' | 'closed' | 'gone' = 'open';

  /** `onGone` is called once if the client disconnects before `close`. It must not throw. */
  constructor(onGone: () => void, stallMs = STALL_MS) {
    this.#onGone = onGone;
    this.#stallMs = stallMs;
    this.#patienceMs = stallMs;
    this.body = new ReadableStream<Uint8Array>(this);
  }

  /** Called by the runtime when it sends the response, and by a reader with each of its reads. */
  pull(sink: Sink): void {
    if (this.#sink !== undefined) return;
    this.#sink = sink;
    this.hurry();
    for (const data of this.#early.splice(0)) sink.write(data);
    if (this.#state === 'open') sink.flush();
    else sink.close(this.#broken);
  }

  /** Called by the runtime when the client has disconnected. */
  cancel(): void {
    this.leave();
  }

  /** Reports a disconnect, which the stream also notices itself. */
  leave(): void {
    if (this.#state !== 'open') return;
    this.#state = 'gone';
    this.hurry();
    this.#onGone();
  }

  /** Wakes a writer that waits for the client, so that it can write the final events. */
  hurry(): void {
    const room = this.#room;
    if (room === undefined) return;
    this.#room = undefined;
    clearTimeout(this.#stalled);
    this.#patienceMs -= performance.now() - this.#stalledAt;
    room.resolve();
  }

  /** Breaks the connection, so that the client does not take what it has for the whole. */
  cut(reason: string): void {
    this.leave();
    this.#broken = new Error(reason);
    this.#sink?.close(this.#broken);
  }

  gone(): boolean {
    return this.#state === 'gone';
  }

  /** Writes immediately. Returns a promise if the writer should wait for the client to catch up. */
  write(data: Data): Promise<void> | undefined {
    if (this.#state !== 'open' || data.length === 0) return undefined;
    if (this.#sink !== undefined) return this.#send(this.#sink, data);
    this.#early.push(data);
    this.#earlyLength += data.length;
    return this.#earlyLength > EARLY_LENGTH_MAX ? this.#block() : undefined;
  }

  /** Ends the stream with its last events, which leave in one write with the end. */
  close(last: string): void {
    if (this.#state !== 'open') return;
    this.#state = 'closed';
    if (this.#sink === undefined) {
      this.#early.push(last);
      return;
    }
    this.#sink.write(last);
    this.#sink.close();
  }

  #send(sink: Sink, data: Data): Promise<void> | undefined {
    const taken = sink.write(data);
    sink.flush();
    if (this.#room !== undefined) return this.#room.promise;
    const patienceMs = this.#patienceMs + data.length / TAKEN_BYTES_PER_MS;
    this.#patienceMs = Math.min(this.#stallMs, patienceMs);
    if (typeof taken === 'number') return undefined;
    const room = this.#block();
    const resume = (): void => this.hurry();
    taken.then(resume, resume);
    return room;
  }

  #block(): Promise<void> {
    if (this.#room === undefined) {
      this.#room = Promise.withResolvers();
      this.#stalledAt = performance.now();
      const stall = (): void => this.cut('The client stopped reading.');
      this.#stalled = setTimeout(stall, Math.max(0, this.#patienceMs));
    }
    return this.#room.promise;
  }
}
