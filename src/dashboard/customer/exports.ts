// Streams export files: rows are read only as fast as the client takes them. Limits concurrent
// exports per account, because a file of a million rows takes long. Used by the routes that return
// files.

import { yieldToEventLoop } from '../../async/yield.ts';
import { takeOff } from '../../core/counts.ts';
import { DashboardError } from '../edge/error.ts';
import type { RouteServer } from '../edge/route.ts';

const EXPORTS_MAX = 2;

/** The idle timeout of a connection whose file has ended. */
const IDLE_SECONDS = 60;

/**
 * Lifts the runtime's idle timeout for as long as a file is sent, because it counts although bytes
 * flow. Returns what to call as `onEnd` of the file.
 */
export function whileSent(
  request: Request,
  server: RouteServer | null,
  onEnd: () => void,
): () => void {
  server?.timeout(request, 0);
  return () => {
    server?.timeout(request, IDLE_SECONDS);
    onEnd();
  };
}

/** Counts the running exports of each account. */
export function createExports() {
  const running = new Map<string, number>();

  /** Returns the function that releases the slot, which counts once. Throws `too_many_attempts`. */
  function begin(accountId: string): () => void {
    const count = running.get(accountId) ?? 0;
    if (count >= EXPORTS_MAX) {
      throw new DashboardError(
        'too_many_attempts',
        `The limit of ${EXPORTS_MAX} exports at a time is reached. Wait until one of them is finished.`,
        { retryAfterSeconds: 10 },
      );
    }
    running.set(accountId, count + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      takeOff(running, accountId);
    };
  }

  return {
    begin,
    /**
     * Opens a file in a slot. `open` passes `onEnd` on to `fileResponse`; where it fails, the slot is
     * released at once. Throws `too_many_attempts` before `open` is called.
     */
    async serve(
      accountId: string,
      open: (onEnd: () => void) => Promise<Response>,
    ): Promise<Response> {
      const onEnd = begin(accountId);
      try {
        return await open(onEnd);
      } catch (error) {
        onEnd();
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

type FileOptions = {
  readonly type: string;
  readonly filename: string;
  /** Called at the end, on disconnect, and if reading the ledger fails. */
  readonly onEnd: () => void;
};

/**
 * Takes `pieces` one by one and yields to the event loop between two of them. A page without a row
 * is an empty piece, because only between pieces can a generator end for a client that has left.
 */
export function fileResponse(
  pieces: Iterator<string, void> | AsyncIterator<string, void>,
  { type, filename, onEnd }: FileOptions,
): Response {
  const encoder = new TextEncoder();

  async function nextPiece(): Promise<IteratorResult<string, void>> {
    for (;;) {
      const piece = await pieces.next();
      if (piece.done || piece.value !== '') return piece;
      await yieldToEventLoop();
    }
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await nextPiece();
          if (piece.done) {
            onEnd();
            controller.close();
          } else {
            controller.enqueue(encoder.encode(piece.value));
          }
        } catch (error) {
          // Breaks the connection, so that a partial file never looks complete.
          onEnd();
          throw error;
        }
        await yieldToEventLoop();
      },
      async cancel() {
        // The page that is being read still uses the slot.
        try {
          await pieces.return?.();
        } finally {
          onEnd();
        }
      },
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
