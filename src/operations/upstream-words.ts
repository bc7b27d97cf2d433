// What upstreams said of failed attempts, as the console and `tollgate explain` show it. Equal words
// of a place are one row over all nodes. Numbers and ids differ between equal errors, so words with a
// digit do not distinguish rows.

import { desc, eq, getTableColumns, lt, or, sql } from 'drizzle-orm';
import { DAY_MS, isoTime } from '../core/calendar.ts';
import type { HeardWords } from '../core/failure.ts';
import type { BookedAttempt } from '../ledger/series/attempts.ts';
import type { Database } from '../store/contract.ts';
import { larger, smaller } from '../store/portable.ts';
import { upstreamWords } from '../store/said-tables.ts';
import { inserted } from '../store/statement.ts';
import { sweepTable } from '../store/sweep.ts';

type WordsRow = typeof upstreamWords.$inferSelect;

const KEPT_MS = 7 * DAY_MS;
const KEPT_OF_PLACE = 50;
const LISTED = 20;
/** Of an upstream, for the words of one request. */
const EXAMINED = 5_000;

/** Between two writes. Callers can cause many different errors at one place. */
const HEARD_OF_PLACE = 10;

/** Requests that a row names; `explain` shows the words of others by place, status and time. */
const REQUESTS_MAX = 16;

export type HeardGroups = ReturnType<typeof createHeardGroups>;

/** Groups what upstreams said until it is stored. */
export function createHeardGroups() {
  let places = new Map<string, Map<string, WordsRow>>();
  return {
    hear({ requestId, at, ...said }: HeardWords): void {
      const place = `${said.upstream} ${said.model}`;
      const rows = places.getOrInsertComputed(place, () => new Map());
      const equal = said.words.replaceAll(/\S*\d\S*/g, '#');
      // The same on every node.
      const id = Bun.hash(`${place} ${said.failure} ${said.status ?? 0} ${equal}`).toString(36);
      const known = rows.get(id);
      if (known === undefined && rows.size >= HEARD_OF_PLACE) return;
      const { count = 0, firstAt = at, requests = '' } = known ?? {};
      const named = new Set([requestId, ...requests.split(' ')]);
      rows.set(id, {
        ...said,
        id,
        status: said.status ?? null,
        firstAt,
        lastAt: at,
        count: count + 1,
        requests: [...named].slice(0, REQUESTS_MAX).join(' ').trim(),
      });
    },
    /** Takes all rows out. */
    take(): readonly WordsRow[] {
      const taken = [...places.values()].flatMap((rows) => [...rows.values()]);
      places = new Map();
      return taken;
    },
  };
}

/** Adds groups to the stored ones. Several nodes may do so at the same time. */
export async function recordWords(database: Database, groups: readonly WordsRow[]): Promise<void> {
  const added = inserted(getTableColumns(upstreamWords));
  await database.concurrently(async (tx) => {
    // In one order, so that two nodes cannot wait for each other.
    for (const group of groups.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      await tx
        .insert(upstreamWords)
        .values(group)
        .onConflictDoUpdate({
          target: upstreamWords.id,
          set: {
            words: added.words,
            requests: added.requests,
            count: sql`${upstreamWords.count} + ${added.count}`,
            firstAt: smaller(upstreamWords.firstAt, added.firstAt),
            lastAt: larger(upstreamWords.lastAt, added.lastAt),
          },
        })
        .run();
    }
  });
}

/** The latest of an upstream, newest first. */
export function listWords(
  { db }: Pick<Database, 'db'>,
  upstream: string,
  limit = LISTED,
): Promise<WordsRow[]> {
  return db
    .select()
    .from(upstreamWords)
    .where(eq(upstreamWords.upstream, upstream))
    .orderBy(desc(upstreamWords.lastAt), desc(upstreamWords.id))
    .limit(limit)
    .all();
}

/**
 * What an attempt's upstream said: of this request, or where only later ones are named, of requests
 * of the same place and end at that time.
 */
export type AttemptWords = { readonly words: string; readonly exact: boolean };

/** In the order of the attempts; null where nothing is known. */
export async function wordsOfAttempts(
  database: Pick<Database, 'db'>,
  requestId: string,
  attempts: readonly BookedAttempt[],
): Promise<readonly (AttemptWords | null)[]> {
  const upstreams = new Set(attempts.map(({ upstream = '' }) => upstream));
  const lists = await Promise.all([...upstreams].map((id) => listWords(database, id, EXAMINED)));
  const rows = lists.flat();
  return attempts.map(({ upstream, model, failure, status = null, endedAt = 0 }) => {
    const alike = rows
      .filter((row) => row.upstream === upstream && row.model === model)
      .filter((row) => row.failure === failure && row.status === status);
    const own = alike.find(({ requests }) => requests.includes(requestId));
    const then = alike.find(({ firstAt, lastAt }) => firstAt <= endedAt && endedAt <= lastAt);
    const row = own ?? then;
    return row === undefined ? null : { words: row.words, exact: row === own };
  });
}

/** Removes words of a week ago, and the oldest of a place that has too many. */
export async function sweepWords(database: Database, nowMs: number): Promise<void> {
  const tooMany = sql`${upstreamWords.id} in (select id from (
    select id, row_number() over (partition by upstream, model order by last_at desc) as place from ${upstreamWords}
  ) as ranked where place > ${KEPT_OF_PLACE})`;
  await sweepTable(database, upstreamWords, or(lt(upstreamWords.lastAt, nowMs - KEPT_MS), tooMany));
}

export function wordsRecord(row: WordsRow) {
  return {
    id: row.id,
    model: row.model,
    failure: row.failure,
    words: row.words,
    count: row.count,
    first_at: isoTime(row.firstAt),
    last_at: isoTime(row.lastAt),
    /** The latest request. */
    request_id: row.requests.split(' ', 1)[0] ?? '',
  } as const;
}
