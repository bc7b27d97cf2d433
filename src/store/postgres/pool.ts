// A pool of PostgreSQL sessions: opened on demand, lent to one user at a time, closed when broken
// or old. A database has one pool.

import { PostgresFailure } from './error.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

type PoolOptions = SessionOptions & { readonly max: number };

/** How long a caller waits for a free session; a statement may take as long. */
const ACQUIRE_TIMEOUT_MS = 2_000;

/**
 * An old session is closed, because its prepared statements and the server's memory for them grow.
 */
const AGE_MAX_MS = 30 * 60_000;

type Waiter = {
  /** A free session, or one being opened to replace another. */
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

  /** Rejects with `PostgresFailure` where no session is free or can be opened in time. */
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

  /** A session that ended or failed to open leaves its slot to the next caller. */
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

  /** Every lent session is returned, also a broken one. */
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
    // Before the sessions end, or waiting callers would get their slots.
    for (const waiter of waiters.splice(0)) waiter.refuse(failure('The database was closed.'));
    for (const session of [...all]) session.end(failure('The database was closed.'));
  }

  return { acquire, release, close };
}

const failure = (message: string): PostgresFailure => new PostgresFailure('POOL', message);
