// Records refused requests. A refusal costs a few map lookups: equal ones of a minute are counted
// in memory, and one write a second stores the counts. Bounded per account and in all, because
// anyone can cause thousands a second; what exceeds a bound is counted with less detail.

import { sql } from 'drizzle-orm';
import { createSerialize } from '../async/serialize.ts';
import { ERRORS, type ErrorCode } from '../core/error.ts';
import type { RouteName } from '../core/request-summary.ts';
import type { Database } from '../store/contract.ts';
import { refusedRequests } from '../store/refused-tables.ts';

export type RefusedCall = {
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly route: RouteName;
  readonly code: ErrorCode;
  /** The message that the client received. */
  readonly message: string;
  /** Absent if the request has no key, or an unknown one. */
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
};

type RefusedRow = typeof refusedRequests.$inferInsert;
type Group = { readonly row: RefusedRow; isDirty: boolean };

/** The groups of one account, or of all callers without one, in one span of time. */
type Span = { readonly number: number; readonly groups: Map<string, Group> };

const MINUTE_MS = 60_000;
/** Callers without an account are counted only, so there is no need for minutes. */
const UNKNOWN_SPAN_MS = 60 * MINUTE_MS;
const FLUSH_DELAY_MS = 1_000;

/** Rows with all details per account and minute; further refusals are counted by code alone. */
export const DETAILED_MAX = 20;
/** Rows in memory; further refusals are counted without their account. */
export const GROUPS_MAX = 10_000;
const MESSAGE_LENGTH_MAX = 300;
const ROWS_PER_STATEMENT = 50;

const UNKNOWN = '';

export function createRefusalRecorder(dependencies: {
  readonly database: Database;
  /** Called when a write failed; its counts are lost. */
  readonly onError: (error: unknown) => void;
}) {
  const { database, onError } = dependencies;
  const spans = new Map<string, Span>();
  let dirty: Group[] = [];
  let held = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const inTurn = createSerialize();

  const flush = (): Promise<void> => inTurn(write);

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const changed = dirty;
    dirty = [];
    let newest = 0;
    const rows = changed.map((group) => {
      group.isDirty = false;
      newest = Math.max(newest, group.row.lastAt);
      return group.row;
    });
    for (const [accountId, { number, groups: old }] of spans) {
      if (accountId === UNKNOWN || number >= Math.floor(newest / MINUTE_MS)) continue;
      spans.delete(accountId);
      held -= old.size;
    }
    try {
      for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
        await store(rows.slice(from, from + ROWS_PER_STATEMENT));
      }
    } catch (error) {
      onError(error);
    }
  }

  /** Counts are totals, so a repeated write changes nothing. */
  const store = (rows: readonly RefusedRow[]) =>
    database.quickly((tx) =>
      tx
        .insert(refusedRequests)
        .values([...rows])
        .onConflictDoUpdate({
          target: refusedRequests.id,
          set: { count: sql`excluded.count`, lastAt: sql`excluded.last_at` },
        })
        .run(),
    );

  function spanOf(accountId: string, at: number): Span {
    const number = Math.floor(at / (accountId === UNKNOWN ? UNKNOWN_SPAN_MS : MINUTE_MS));
    let span = spans.get(accountId);
    if (span === undefined || span.number !== number) {
      if (span !== undefined) held -= span.groups.size;
      span = { number, groups: new Map() };
      spans.set(accountId, span);
    }
    return span;
  }

  /** Undefined where the memory is full. */
  function groupOf(accountId: string, refusal: RefusedCall): Group | undefined {
    const { groups } = spanOf(accountId, refusal.at);
    const exact = exactKey(accountId, refusal);
    const isDetailed = groups.size < DETAILED_MAX || groups.has(exact);
    const key = isDetailed || accountId === UNKNOWN ? exact : refusal.code;
    const group = groups.get(key);
    if (group !== undefined) return group;
    if (held >= GROUPS_MAX && accountId !== UNKNOWN) return undefined;
    const added = { row: rowOf(accountId, refusal, isDetailed), isDirty: false };
    groups.set(key, added);
    held += 1;
    return added;
  }

  return {
    /** Notes a refusal; never writes and never throws. */
    note(refusal: RefusedCall): void {
      const group = groupOf(refusal.accountId ?? UNKNOWN, refusal) ?? groupOf(UNKNOWN, refusal);
      if (group === undefined) return;
      group.row.count += 1;
      group.row.lastAt = refusal.at;
      if (group.isDirty) return;
      group.isDirty = true;
      dirty.push(group);
      timer ??= setTimeout(flush, FLUSH_DELAY_MS).unref();
    },
    /** Writes all notes now, for the server's shutdown. */
    flush,
  };
}

function exactKey(
  accountId: string,
  { route, code, keyId = '', model = '', message }: RefusedCall,
): string {
  if (accountId === UNKNOWN) return `${route} ${code}`;
  // Other messages contain amounts and times, which would make every refusal another row.
  const detail = code === 'invalid_request' ? message : '';
  return `${route} ${code} ${keyId} ${model} ${detail}`;
}

function rowOf(accountId: string, refusal: RefusedCall, isDetailed: boolean): RefusedRow {
  const { requestId: id, at, route, code, message } = refusal;
  const { status, text } = ERRORS[code];
  const row = { id, at, lastAt: at, count: 0, route, status, code };
  const details = { accountId, keyId: refusal.keyId ?? null, model: refusal.model ?? null };
  const ownMessage = message === text ? null : message.slice(0, MESSAGE_LENGTH_MAX);
  if (accountId === UNKNOWN) return { ...row, accountId: null, keyId: null, model: null };
  if (!isDetailed) return { ...row, accountId, keyId: null, model: null };
  return { ...row, ...details, message: ownMessage };
}
