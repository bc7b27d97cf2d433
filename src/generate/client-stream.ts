// The client's end of a stream: text goes in, bytes leave through a web stream that Bun serves. It
// says when there is no room, and when nobody is listening any more.

/** Bytes that may wait for a slow reader before the upstream is made to wait. */
const WAITING_BYTES_MAX = 65_536;

/**
 * How long a client may take nothing at all. Its connection is then cut: whoever stays without
 * reading would keep a slot, and money in hold, for ever.
 */
const STALL_MS = 60_000;

const UTF8 = new TextEncoder();

export type ClientStream = ReturnType<typeof createClientStream>;

/** `onGone` is called once when the client leaves before `close`. It must not throw. */
export function createClientStream(onGone: () => void, stallMs = STALL_MS) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** What everybody waits for who has written while there was no room, a heartbeat included. */
  let room: PromiseWithResolvers<void> | undefined;
  let stalled: Timer | undefined;
  let state: 'open' | 'closed' | 'gone' = 'open';

  /** Lets a writer that waits for the client go on: the last words are to be written now. */
  const resume = (): void => {
    clearTimeout(stalled);
    room?.resolve();
    room = undefined;
  };
  /** Says that the client has left, from another source than the stream itself. */
  const leave = (): void => {
    if (state !== 'open') return;
    state = 'gone';
    resume();
    onGone();
  };

  const cut = (): void => {
    leave();
    controller?.error(new Error('The client stopped reading.'));
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
    hurry: resume,
    gone: (): boolean => state === 'gone',
    /** Writes at once; a promise where the writer should wait until the client has caught up. */
    write(text: string): Promise<void> | undefined {
      if (state !== 'open' || text === '' || controller === undefined) return undefined;
      controller.enqueue(UTF8.encode(text));
      if ((controller.desiredSize ?? 1) > 0) return undefined;
      if (room === undefined) {
        room = Promise.withResolvers();
        stalled = setTimeout(cut, stallMs);
      }
      return room.promise;
    },
    close(): void {
      if (state !== 'open') return;
      state = 'closed';
      controller?.close();
    },
  };
}
