// Stores and reads how fast answers were and how attempts failed, as mergeable histograms by hour
// and day. Requests appear after the roll-up, which is a few seconds behind.

import { and, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm';
import { createPause } from '../../async/yield.ts';
import { DAY_MS } from '../../core/calendar.ts';
import { mergePacked, packHistogram } from '../../core/histogram.ts';
import type { Database } from '../../store/contract.ts';
import { usageSpeeds } from '../../store/series-tables.ts';
import { inserted, placeholders } from '../../store/statement.ts';
import { HOUR_MS } from './figures.ts';
import { addSpeeds, emptySpeeds, type SpeedSum, type Speeds } from './speed-sums.ts';

const value = sql.placeholder;
const { subject, length, start, model } = usageSpeeds;
const ofRow = and(
  eq(subject, value('subject')),
  eq(length, value('length')),
  eq(start, value('start')),
  eq(model, value('model')),
);

/** The writer adds to a stored row; the caller's transaction locks the series. */
export function prepareSpeedWriter(database: Database): (sum: SpeedSum) => Promise<void> {
  const { db } = database;
  const find = db.select().from(usageSpeeds).where(ofRow).prepare();
  const write = database.prepare<Record<string, unknown>, []>(
    db
      .insert(usageSpeeds)
      .values(placeholders(usageSpeeds) as never)
      .onConflictDoUpdate({
        target: [subject, length, start, model],
        set: inserted(getTableColumns(usageSpeeds)),
      }),
  );
  return async (sum) => {
    const { firstContent, duration, speed, attempts, failed, failures, ...key } = sum;
    const total: Speeds = { firstContent, duration, speed, attempts, failed, failures };
    const stored = await find.get(key);
    if (stored !== undefined) addSpeeds(total, unpacked(stored));
    await write.run({
      ...key,
      firstContent: packHistogram(firstContent),
      duration: packHistogram(duration),
      speed: packHistogram(speed),
      attempts: total.attempts,
      failed: total.failed,
      failures: packHistogram(failures),
    });
  };
}

type StoredSpeeds = Pick<typeof usageSpeeds.$inferSelect, keyof Speeds>;

function unpacked(row: StoredSpeeds): Speeds {
  return {
    firstContent: mergePacked(new Map(), row.firstContent),
    duration: mergePacked(new Map(), row.duration),
    speed: mergePacked(new Map(), row.speed),
    attempts: row.attempts,
    failed: row.failed,
    failures: mergePacked(new Map(), row.failures),
  };
}

export type SpeedQuery = {
  readonly subject: string;
  /** Absent: all models. */
  readonly model?: string | undefined;
  /** Where the buckets begin, ascending, and where the last one ends: whole UTC hours. */
  readonly edges: readonly number[];
};

export type SpeedCell = {
  readonly bucket: number;
  readonly model: string;
  readonly speeds: Speeds;
};

/** Per bucket and model, oldest first; buckets without a request are absent. */
type ReadSpeeds = (query: SpeedQuery) => Promise<readonly SpeedCell[]>;

/** `database` is migrated. */
export function createSpeedReader({ db }: Database): ReadSpeeds {
  const prepared = (ofModel: SQL | undefined) =>
    db
      .select()
      .from(usageSpeeds)
      .where(
        and(
          eq(subject, value('subject')),
          eq(length, value('length')),
          gte(start, value('fromMs')),
          lt(start, value('untilMs')),
          ofModel,
        ),
      )
      .prepare();
  const all = prepared(undefined);
  const ofModel = prepared(eq(model, value('model')));

  return async ({ edges, ...asked }) => {
    const isDays = edges.every((edge) => edge % DAY_MS === 0);
    const cells: SpeedCell[] = [];
    const pause = createPause();
    for (const [bucket, fromMs] of edges.slice(0, -1).entries()) {
      const range = { fromMs, untilMs: edges[bucket + 1] ?? fromMs };
      const query = { ...asked, ...range, length: isDays ? DAY_MS : HOUR_MS };
      const rows = await (asked.model === undefined ? all : ofModel).all(query);
      for (const [name, of] of Map.groupBy(rows, (row) => row.model)) {
        const speeds = emptySpeeds();
        for (const row of of) addSpeeds(speeds, unpacked(row));
        cells.push({ bucket, model: name, speeds });
        await pause();
      }
      await pause();
    }
    return cells;
  };
}
