// The client's end of a stream: accepts text and writes bytes to a web stream that Bun serves.
// Reports backpressure and client disconnects.

/** Bytes buffered for a slow reader before the upstream is paused. */
const WAITING_BYTES_MAX = 65_536;

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

const UTF8 = new TextEncoder();

export type ClientStream = ReturnType<typeof createClientStream>;

/** `onGone` is called once if the client disconnects before `close`. It must not throw. */
export function createClientStream(onGone: () => void, stallMs = STALL_MS) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Resolved when there is room again. Every blocked writer waits for it, heartbeats included. */
  let room: PromiseWithResolvers<void> | undefined;
  let stalled: Timer | undefined;
  let stalledAt = 0;
  /** How long it may still stall. */
  let patienceMs = stallMs;
  let state: 'open' | 'closed' | 'gone' = 'open';

  /** Wakes a writer that waits for the client, so that it can write the final events. */
  const resume = (): void => {
    if (room === undefined) return;
    clearTimeout(stalled);
    patienceMs -= performance.now() - stalledAt;
    room.resolve();
    room = undefined;
  };
  /** Reports a disconnect that was detected outside the stream. */
  const leave = (): void => {
    if (state !== 'open') return;
    state = 'gone';
    resume();
    onGone();
  };

  const cut = (reason: string): void => {
    leave();
    controller?.error(new Error(reason));
  };
  const cutStalled = (): void => cut('The client stopped reading.');

  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      pull: resume,
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES_MAX }),
  );

  const send = (bytes: Uint8Array): Promise<void> | undefined => {
    if (controller === undefined) return undefined;
    controller.enqueue(bytes);
    if (room === undefined) {
      patienceMs = Math.min(stallMs, patienceMs + bytes.length / TAKEN_BYTES_PER_MS);
      if ((controller.desiredSize ?? 1) > 0) return undefined;
      room = Promise.withResolvers();
      stalledAt = performance.now();
      stalled = setTimeout(cutStalled, Math.max(0, patienceMs));
    }
    return room.promise;
  };

  return {
    body,
    leave,
    hurry: resume,
    /** Breaks the connection, so that the client does not take what it has for the whole. */
    cut,
    gone: (): boolean => state === 'gone',
    /**
     * Writes immediately. Returns a promise if the writer should wait for the client to catch up.
     */
    write: (text: string): Promise<void> | undefined =>
      state !== 'open' || text === '' ? undefined : send(UTF8.encode(text)),
    /** As `write`. */
    writeBytes: (bytes: Uint8Array): Promise<void> | undefined =>
      state !== 'open' || bytes.length === 0 ? undefined : send(bytes),
    close(): void {
      if (state !== 'open') return;
      state = 'closed';
      controller?.close();
    },
  };
}
