// Runs few long reads of an account at a time, so that many at once neither fill the memory nor take
// the turns of other accounts. Others wait in line.

import { DashboardError } from './error.ts';

const AT_ONCE = 2;

/** A page makes a few reads; a longer line has no reader that still waits for it. */
const WAITING_MAX = 50;

const RETRY_SECONDS = 10;

export type ReadTurns = ReturnType<typeof createTurns>;

export function createTurns() {
  /** Only accounts that read now. The first `AT_ONCE` reads of a line run. */
  const lines = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  /**
   * Runs `read` when it is its turn, unless its client has left. Throws `too_many_attempts` where
   * the line is full.
   */
  return async function inTurn<T>(
    accountId: string,
    { signal }: Pick<Request, 'signal'>,
    read: () => Promise<T>,
  ): Promise<T> {
    const line = lines.getOrInsertComputed(accountId, () => ({ running: 0, waiting: [] }));
    if (line.running < AT_ONCE) line.running += 1;
    else await wait(line.waiting);
    try {
      if (signal.aborted) throw new DashboardError('unavailable', 'The client has left.');
      return await read();
    } finally {
      const next = line.waiting.shift();
      if (next === undefined) line.running -= 1;
      else next();
      if (line.running === 0) lines.delete(accountId);
    }
  };
}

function wait(waiting: (() => void)[]): Promise<void> {
  if (waiting.length >= WAITING_MAX) {
    throw new DashboardError(
      'too_many_attempts',
      `The limit of ${WAITING_MAX} waiting reads is reached. Try again in ${RETRY_SECONDS} seconds.`,
      { retryAfterSeconds: RETRY_SECONDS },
    );
  }
  return new Promise((resolve) => waiting.push(resolve));
}
