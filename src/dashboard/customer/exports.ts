// Files that an account takes along: written while they are read, no further ahead than the client
// takes them, and only a few at once, because a file of a million rows takes a while of everybody's
// time. Called by the routes that answer files.

import { yieldToEventLoop } from '../../async/yield.ts';
import { DashboardError } from '../edge/error.ts';

const EXPORTS_MAX = 2;

/** Counts the files that each account is being sent. */
export function createExports() {
  const running = new Map<string, number>();
  return {
    /** Returns what ends it, and counts once. Throws `too_many_attempts`. */
    begin(accountId: string): () => void {
      const count = running.get(accountId) ?? 0;
      if (count >= EXPORTS_MAX) {
        throw new DashboardError(
          'too_many_attempts',
          `${EXPORTS_MAX} files are being written for this account already. Wait until one of them is done.`,
          { retryAfterSeconds: 10 },
        );
      }
      running.set(accountId, count + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (running.get(accountId) ?? 1) - 1;
        if (left > 0) running.set(accountId, left);
        else running.delete(accountId);
      };
    },
  };
}

type FileOptions = {
  readonly type: string;
  readonly filename: string;
  /** Called at the end, or when the client has left or the books cannot be read before. */
  readonly onEnd: () => void;
};

/** `pieces` are asked one by one, with a pause for everybody else between two of them. */
export function fileResponse(
  pieces: Iterator<string, void> | AsyncIterator<string, void>,
  { type, filename, onEnd }: FileOptions,
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await pieces.next();
          if (piece.done) {
            onEnd();
            controller.close();
          } else {
            controller.enqueue(encoder.encode(piece.value));
          }
        } catch (error) {
          // The connection breaks, so that half a file never looks like a whole one.
          onEnd();
          throw error;
        }
        await yieldToEventLoop();
      },
      async cancel() {
        onEnd();
        await pieces.return?.();
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
