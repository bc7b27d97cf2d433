// One connection to PostgreSQL, from its first byte to its last: a connection that breaks is never
// replaced behind a transaction's back. The pool opens them; no other file talks to postgres.js.
// Statements that are not waited for one by one travel together and are carried out in their order.

import type { Socket } from 'node:net';
import type { PostgresTarget } from '../../core/postgres-url.ts';
import { dial } from './dial.ts';
import { fromDriver, PostgresFailure } from './error.ts';
import { createReplyCount } from './reply-count.ts';
import { isReplyTo, type Reply, replyOf, TYPES, toDriver } from './values.ts';

export type SessionOptions = {
  readonly target: PostgresTarget;
  /** Who may have signed the server's certificate, in PEM; the public authorities where absent. */
  readonly authorities: string | undefined;
  readonly connectTimeoutMs: number;
  /** PostgreSQL ends a statement after this; a second later we no longer wait for it to do so. */
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** Looks rows up by their indexes, whatever the planner knows of the tables. */
  readonly byIndex?: boolean;
};

export type Session = {
  /** Rejects with `PostgresFailure` or `PostgresRefusal`. Must be called to be sent, not awaited. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<Reply>;
  /**
   * Asks for a number that is asked for once. A reply that was lost or doubled before gives the
   * answer of another question, and the session ends: nothing that it said can be relied on.
   */
  readonly check: () => Promise<void>;
  /** How long a reply may take from now on; what it was at first where absent. */
  readonly wait: (patienceMs?: number) => void;
  readonly isOpen: () => boolean;
  readonly openedAt: number;
  /** At once; queries that wait for a reply reject. */
  readonly end: (cause: PostgresFailure) => void;
};

/** A transaction whose process is away holds its locks for no longer. */
const IDLE_TRANSACTION_MS = 5_000;

/** How long a reply may take beyond the time that PostgreSQL itself allows a statement, at most. */
const GRACE_MS = 1_000;

/** Statements that wait for their turn while these are on their way. */
const PIPELINE_MAX = 1_000;

const ended = (why: string): PostgresFailure =>
  new PostgresFailure('CONNECTION_CLOSED', `The connection to PostgreSQL has ended: ${why}`);

/** `onEnd` is called once, whichever way it ends. */
export async function openSession(options: SessionOptions, onEnd: () => void): Promise<Session> {
  const { target, authorities, connectTimeoutMs, statementTimeoutMs } = options;
  const { username, password, database } = target;
  const usualMs = statementTimeoutMs + Math.min(statementTimeoutMs, GRACE_MS);
  let patienceMs = usualMs;
  const waiting = new Set<(cause: PostgresFailure) => void>();
  let socket: Socket | undefined;
  let isOpen = true;
  let sent = 0;
  let asked = 0n;
  let repliedAt = performance.now();
  let watch: Timer | undefined;

  const settings = {
    host: target.host,
    port: target.port,
    database,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    // It is given a connection that is encrypted already, where it is to be.
    ssl: false,
    max: 1,
    max_pipeline: PIPELINE_MAX,
    prepare: true,
    fetch_types: false,
    idle_timeout: 0,
    max_lifetime: 0,
    connect_timeout: connectTimeoutMs / 1_000,
    types: TYPES,
    onnotice: () => undefined,
    onclose: () => end(ended('it was closed.')),
    // Poolers know nothing else that may be said here.
    connection: { application_name: 'tollgate' },
    /** Called again where the connection broke, for what was still to be sent: that is refused. */
    async socket() {
      if (socket !== undefined) throw ended('the server closed it.');
      const made = await dial({ ...target, authorities }, connectTimeoutMs);
      if (!isOpen) {
        made.destroy();
        throw ended('it was made too late.');
      }
      socket = made;
      countReplies(made);
      return made;
    },
  };
  // A server on SQLite does not load the driver.
  const { default: postgres } = await import('postgres');
  const client = postgres(settings);

  function end(cause: PostgresFailure): void {
    if (!isOpen) return;
    isOpen = false;
    clearTimeout(watch);
    for (const reject of waiting) reject(cause);
    waiting.clear();
    socket?.destroy();
    client.end({ timeout: 0 }).catch(() => undefined);
    onEnd();
  }

  function countReplies(from: Socket): void {
    const count = createReplyCount();
    // One more than was asked for: the server says once that it is ready to be asked.
    from.on('data', (bytes) => {
      if (typeof bytes !== 'string' && count(bytes) > sent + 1)
        end(ended('there was a reply that nobody asked for.'));
    });
  }

  function query(text: string, values: readonly unknown[] = []): Promise<Reply> {
    if (!isOpen) return Promise.reject(ended('nothing more can be asked.'));
    return new Promise((resolve, reject) => {
      if (waiting.size === 0) repliedAt = performance.now();
      waiting.add(reject);
      sent += 1;
      watch ??= setTimeout(look, patienceMs);
      client
        .unsafe(text, values.map(toDriver), { prepare: true, ...NOT_SIMPLE })
        .values()
        .then(
          (result) => {
            heard(reject);
            if (isReplyTo(text, result.command)) resolve(replyOf(result));
            else reject(outOfStep());
          },
          (cause: unknown) => {
            heard(reject);
            reject(fromDriver(cause));
          },
        );
    });
  }

  function heard(reject: (cause: PostgresFailure) => void): void {
    waiting.delete(reject);
    repliedAt = performance.now();
  }

  /** A network that swallows everything says nothing at all, so the clock has to. */
  function look(): void {
    watch = undefined;
    if (waiting.size === 0) return;
    const leftMs = repliedAt + patienceMs - performance.now();
    if (leftMs > 0) {
      watch = setTimeout(look, leftMs);
      return;
    }
    // What has come while this process was busy is read first.
    watch = setTimeout(() => {
      if (performance.now() - repliedAt < patienceMs) look();
      else end(ended('it did not answer in time.'));
    }, 50);
  }

  async function check(): Promise<void> {
    asked += 1n;
    const number = asked;
    const reply = await query('select $1::int8', [number]);
    if (reply.rows[0]?.[0] !== number) throw outOfStep();
  }

  function outOfStep(): PostgresFailure {
    const cause = ended('a reply was the one to another question.');
    end(cause);
    return cause;
  }

  function wait(givenMs = usualMs): void {
    if (givenMs === patienceMs) return;
    patienceMs = givenMs;
    // The next look may have been put off for longer than a reply may take from now on.
    clearTimeout(watch);
    look();
  }

  try {
    await query(settingsOf(options));
    await check();
  } catch (cause) {
    const failure = fromDriver(cause);
    end(failure);
    throw failure;
  }
  return { query, check, wait, isOpen: () => isOpen, openedAt: performance.now(), end };
}

/**
 * A statement is planned once, and the planner takes a table that was small a minute ago for small: it
 * would read all of it. The cost that it gives to what is off must not call the compiler.
 */
const BY_INDEX = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** For as long as the session lasts. */
function settingsOf({
  statementTimeoutMs,
  lockTimeoutMs,
  byIndex = false,
}: SessionOptions): string {
  const settings = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    ...(byIndex ? BY_INDEX : {}),
  };
  const set = ([name, value]: [string, number | string]) =>
    `set_config('${name}', '${value}', false)`;
  return `select ${Object.entries(settings).map(set).join(', ')}`;
}

/** The types of postgres.js lack the option that keeps a statement without values prepared. */
const NOT_SIMPLE: object = { simple: false };
