// One PostgreSQL connection from start to end: a broken one is never replaced during a transaction.
// The pool opens sessions; no other file uses postgres.js. Statements that are not awaited one by
// one are pipelined and run in order.

import type { Socket } from 'node:net';
import type { PostgresTarget } from '../../core/postgres-url.ts';
import { dial } from './dial.ts';
import { fromDriver, PostgresFailure } from './error.ts';
import { isReplyTo, type Reply, replyOf, TYPES, toDriver } from './values.ts';

export type SessionOptions = {
  readonly target: PostgresTarget;
  /** The authorities for the server's certificate, in PEM; default: the public ones. */
  readonly authorities: string | undefined;
  readonly connectTimeoutMs: number;
  /** PostgreSQL cancels a statement after this; the session stops waiting a second later. */
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** Prefers index lookups, regardless of the planner's statistics. */
  readonly byIndex?: boolean;
};

export type Session = {
  /** Rejects with `PostgresFailure` or `PostgresRefusal`. Sent on the call, not on `await`. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<Reply>;
  /**
   * Asks for a unique number. After a lost or duplicated reply the answer has another number, and
   * the session ends: none of its replies can be relied on.
   */
  readonly check: () => Promise<void>;
  /** Sets how long a reply may take from now on; default: the initial limit. */
  readonly wait: (patienceMs?: number) => void;
  readonly isOpen: () => boolean;
  readonly openedAt: number;
  /** Ends it at once; pending queries reject. */
  readonly end: (cause: PostgresFailure) => void;
};

/** PostgreSQL ends a transaction whose process is gone after this, which frees its locks. */
const IDLE_TRANSACTION_MS = 5_000;

/** How long a reply may take beyond PostgreSQL's statement timeout, at most. */
const GRACE_MS = 1_000;

/** The most statements in flight; later ones wait. */
const PIPELINE_MAX = 1_000;

const ended = (why: string): PostgresFailure =>
  new PostgresFailure('CONNECTION_CLOSED', `The connection to PostgreSQL has ended: ${why}`);

/** Calls `onEnd` once, for any end. */
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
    // The connection that it gets is already encrypted, where required.
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
    // Poolers support no other startup parameter here.
    connection: { application_name: 'tollgate' },
    /** Called again after the connection broke, to send the rest: rejects. */
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
    // One more than was asked: the server announces once that it is ready.
    from.on('data', (bytes) => {
      if (typeof bytes !== 'string' && count(bytes) > sent + 1)
        end(ended('there was an unexpected reply.'));
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

  /** A network that drops everything reports no error, so a timer has to. */
  function look(): void {
    watch = undefined;
    if (waiting.size === 0) return;
    const leftMs = repliedAt + patienceMs - performance.now();
    if (leftMs > 0) {
      watch = setTimeout(look, leftMs);
      return;
    }
    // Replies that arrived while this process was busy are read first.
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
    const cause = ended('a reply belonged to another query.');
    end(cause);
    return cause;
  }

  function wait(givenMs = usualMs): void {
    if (givenMs === patienceMs) return;
    patienceMs = givenMs;
    // The next check may be scheduled for later than the new limit.
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
 * A statement is planned once. For a table that was small a minute ago the planner would choose a
 * full scan, so scans are disabled; their cost penalty must not trigger JIT compilation.
 */
const BY_INDEX = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** For the lifetime of the session. */
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

/** The types of postgres.js lack this option, which keeps a statement without values prepared. */
const NOT_SIMPLE: object = { simple: false };

// postgres.js ignores unexpected replies, so a session counts them to detect that it is out of step.

const HEADER_BYTES = 5;
const READY_FOR_QUERY = 'Z'.charCodeAt(0);

/** Takes every byte of an unencrypted connection; returns how many replies have ended. */
function createReplyCount(): (bytes: Uint8Array) => number {
  const header = new Uint8Array(HEADER_BYTES);
  let filled = 0;
  let rest = 0;
  let replies = 0;

  /** A message is its kind, then its length without the kind, then that many bytes. */
  function begin(): void {
    const [kind = 0, a = 0, b = 0, c = 0, d = 0] = header;
    rest = ((a << 24) | (b << 16) | (c << 8) | d) - 4;
    if (kind === READY_FOR_QUERY) replies += 1;
    filled = 0;
  }

  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (rest > 0) {
        const passed = Math.min(rest, bytes.length - at);
        rest -= passed;
        at += passed;
        continue;
      }
      header[filled] = bytes[at] ?? 0;
      filled += 1;
      at += 1;
      if (filled === HEADER_BYTES) begin();
    }
    return replies;
  };
}
