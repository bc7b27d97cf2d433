// The client's end of a stream: text goes in, bytes leave through a web stream that Bun serves. It
// says when there is no room, and when nobody is listening any more.

/** Bytes that may wait for a slow reader before the upstream is made to wait. */
const WAITING_BYTES_MAX = 65_536;

export type ClientStream = {
  readonly body: ReadableStream<Uint8Array>;
  /** Writes at once; a promise where the writer should wait until the client has caught up. */
  readonly write: (text: string) => Promise<void> | undefined;
  readonly close: () => void;
  readonly gone: () => boolean;
  /** Says that the client has left, from another source than the stream itself. */
  readonly leave: () => void;
};

/** `onGone` is called once when the client leaves before `close`. It must not throw. */
export function createClientStream(onGone: () => void): ClientStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let wake: (() => void) | undefined;
  let state: 'open' | 'closed' | 'gone' = 'open';

  const resume = (): void => {
    const waiting = wake;
    wake = undefined;
    waiting?.();
  };
  const leave = (): void => {
    if (state !== 'open') return;
    state = 'gone';
    resume();
    onGone();
  };

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

  return {
    body,
    leave,
    gone: () => state === 'gone',
    write(text) {
      if (state !== 'open' || text === '' || controller === undefined) return undefined;
      controller.enqueue(encoder.encode(text));
      if ((controller.desiredSize ?? 1) > 0) return undefined;
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    close() {
      if (state !== 'open') return;
      state = 'closed';
      controller?.close();
    },
  };
}
