// Streams files: they are read only as fast as the client takes them. Limits concurrent files per
// account, because one of a million rows takes long. Used by the routes that return files.

import { nextTurn } from '../../async/yield.ts';
import { takeOff } from '../../core/counts.ts';
import { DashboardError } from '../edge/error.ts';
import type { RouteCall } from '../edge/route.ts';

const EXPORTS_MAX = 2;

type FileCall = Pick<RouteCall<unknown>, 'request' | 'server'>;

/** For the next piece of a file to be read and taken. */
const PIECE_SECONDS = 240;

/** The idle timeout of a connection whose file has ended. */
const IDLE_SECONDS = 60;

type Sending = {
  /** Aborted when the client leaves. */
  readonly signal?: AbortSignal;
  /** Called before each piece is read. */
  readonly onPiece?: () => void;
  /** Called at the end, on disconnect, and if reading fails; a disconnect may call it twice. */
  readonly onEnd?: () => void;
};

/**
 * Restarts the runtime's idle timeout for each piece, because it counts although bytes flow. It
 * ends the file of a client that has stopped reading.
 */
export function whileSent({ request, server }: FileCall, onEnd: () => void): Sending {
  return {
    signal: request.signal,
    onPiece: () => server?.timeout(request, PIECE_SECONDS),
    onEnd() {
      server?.timeout(request, IDLE_SECONDS);
      onEnd();
    },
  };
}

/** Counts the running exports of each owner: an account, or an operator. */
export function createExports() {
  const running = new Map<string, number>();

  /** Returns the function that releases the slot, which counts once. Throws `too_many_attempts`. */
  function begin(owner: string): () => void {
    const count = running.get(owner) ?? 0;
    if (count >= EXPORTS_MAX) {
      throw new DashboardError(
        'too_many_attempts',
        `The limit of ${EXPORTS_MAX} exports at a time is reached. Wait until one of them is finished.`,
        { retryAfterSeconds: 10 },
      );
    }
    running.set(owner, count + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      takeOff(running, owner);
    };
  }

  return {
    /**
     * Sends a file in a slot, which is released at the file's end, or at once where `open` fails.
     * Throws `too_many_attempts` before `open` is called.
     */
    async serve(
      call: FileCall,
      owner: string,
      open: () => ExportFile | Promise<ExportFile>,
    ): Promise<Response> {
      const release = begin(owner);
      try {
        return fileResponse(await open(), whileSent(call, release));
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

/** A part of the name of a file that lacks archived months: `-after-2026-08`. */
export function behind(archived: readonly { readonly month: string }[]): string {
  const last = archived
    .map(({ month }) => month)
    .toSorted()
    .at(-1);
  return last === undefined ? '' : `-after-${last}`;
}

type Piece = string | Uint8Array;

type ExportFile = {
  readonly pieces: Iterator<Piece, void> | AsyncIterator<Piece, void>;
  readonly type: string;
  readonly filename: string;
};

/**
 * Takes `pieces` one by one and yields to the event loop between two of them. A page without a row
 * is an empty piece, because only between pieces can a generator end for a client that has left.
 */
export function fileResponse(
  { pieces, type, filename }: ExportFile,
  { signal, onPiece, onEnd }: Sending = {},
): Response {
  const encoder = new TextEncoder();

  async function nextPiece(): Promise<IteratorResult<Piece, void>> {
    for (;;) {
      onPiece?.();
      const piece = await pieces.next();
      if (piece.done || piece.value !== '') return piece;
      await nextTurn();
    }
  }

  async function leave(): Promise<void> {
    // The page that is being read still uses the slot.
    try {
      await pieces.return?.();
    } finally {
      onEnd?.();
    }
  }

  // The runtime drops the response for a client that has left, without cancelling its body.
  const drop = (): void => void leave().catch(() => {});
  if (signal?.aborted) drop();
  else signal?.addEventListener('abort', drop, { once: true });

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await nextPiece();
          if (piece.done) {
            onEnd?.();
            controller.close();
          } else {
            const { value } = piece;
            controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
          }
        } catch (error) {
          // Breaks the connection, so that a partial file never looks complete.
          onEnd?.();
          throw error;
        }
        await nextTurn();
      },
      cancel: leave,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="${filename}"`,
    },
  });
}
