// A pool of sessions to PostgreSQL: opened when they are asked for, given out one at a
// time, and closed when they broke or have grown old. A database has one pool.

import { PostgresFailure } from './error.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

type PoolOptions = SessionOptions & { readonly max: number };

/** How long a caller waits for a session of others; a statement may take as long. */
const ACQUIRE_TIMEOUT_MS = 2_000;

/** An old session is closed: its statements and its server's memory of them have piled up. */
const AGE_MAX_MS = 30 * 60_000;

type Waiter = {
  /** One that came free, or one that is being opened in the place of another. */
  readonly take: (session: Session | Promise<Session>) => void;
  readonly refuse: (cause: PostgresFailure) => void;
};

export function createPool(options: PoolOptions) {
  const { max } = options;
  const idle: Session[] = [];
  const all = new Set<Session>();
  const waiters: Waiter[] = [];
  let opening = 0;
  let closed = false;

  /** Rejects with `PostgresFailure` where none comes free, or can be opened, in time. */
  async function acquire(): Promise<Session> {
    if (closed) throw failure('The database was closed.');
    for (let session = idle.pop(); session !== undefined; session = idle.pop()) {
      if (session.isOpen()) return session;
    }
    if (all.size + opening < max) return open();
    const given = await wait();
    return given.isOpen() ? given : acquire();
  }

  async function open(): Promise<Session> {
    opening += 1;
    let opened: Session | undefined;
    try {
      const session = await openSession(options, () => {
        if (opened !== undefined) all.delete(opened);
        makeRoom();
      });
      opened = session;
      all.add(session);
      if (closed) session.end(failure('The database was closed.'));
      return session;
    } finally {
      opening -= 1;
      makeRoom();
    }
  }

  /** A session that ended, or could not be opened, leaves its place to the next in line. */
  function makeRoom(): void {
    if (all.size + opening < max) waiters.shift()?.take(open());
  }

  function wait(): Promise<Session> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take(session) {
          clearTimeout(timer);
          resolve(session);
        },
        refuse(cause) {
          clearTimeout(timer);
          reject(cause);
        },
      };
      const timer = setTimeout(() => {
        waiters.splice(waiters.indexOf(waiter), 1);
        waiter.refuse(failure(`All ${max} connections to PostgreSQL are busy.`));
      }, ACQUIRE_TIMEOUT_MS);
      waiters.push(waiter);
    });
  }

  /** Every session that was given out comes back, a broken one too. */
  function release(session: Session): void {
    if (!session.isOpen()) return;
    if (closed || performance.now() - session.openedAt > AGE_MAX_MS) {
      session.end(failure('The connection to PostgreSQL has grown old.'));
      return;
    }
    const waiter = waiters.shift();
    if (waiter === undefined) idle.push(session);
    else waiter.take(session);
  }

  /** Ends the sessions at once. */
  function close(): void {
    closed = true;
    // Before the sessions end, or their places would be given to those who wait.
    for (const waiter of waiters.splice(0)) waiter.refuse(failure('The database was closed.'));
    for (const session of [...all]) session.end(failure('The database was closed.'));
  }

  return { acquire, release, close };
}

const failure = (message: string): PostgresFailure => new PostgresFailure('POOL', message);
