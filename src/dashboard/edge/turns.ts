// Runs few long reads of an account at a time, so that many at once neither fill the memory nor take
// the turns of other accounts. Others wait in line.

import { createLine, type Line } from '../../async/line.ts';
import { DashboardError } from './error.ts';

const AT_ONCE_MAX = 2;

/** A page makes a few reads; a longer line has no reader that still waits for it. */
const WAITING_MAX = 50;

const RETRY_SECONDS = 10;

export type ReadTurns = ReturnType<typeof createTurns>;

export function createTurns() {
  /** Only of accounts that read now. */
  const lines = new Map<string, Line>();

  /**
   * Runs `read` when it is its turn, unless its client has left. Throws `too_many_attempts` where
   * the line is full.
   */
  return function inTurn<T>(
    accountId: string,
    { signal }: Pick<Request, 'signal'>,
    read: () => Promise<T>,
  ): Promise<T> {
    const newLine = (): Line =>
      createLine({
        atOnceMax: AT_ONCE_MAX,
        waitingMax: WAITING_MAX,
        full: tooMany,
        onIdle: () => void lines.delete(accountId),
      });
    return lines.getOrInsertComputed(accountId, newLine)('reads', async () => {
      if (signal.aborted) throw new DashboardError('unavailable', 'The client has left.');
      return read();
    });
  };
}

function tooMany(): DashboardError {
  return new DashboardError(
    'too_many_attempts',
    `The limit of ${WAITING_MAX} waiting reads is reached. Try again in ${RETRY_SECONDS} seconds.`,
    { retryAfterSeconds: RETRY_SECONDS },
  );
}
