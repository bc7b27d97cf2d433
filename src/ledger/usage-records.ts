// Reads the usage records of a period in pages, so that a month of them need not fit into memory.
// Used by reports; read-only.

import { and, eq, gt, gte, lt, lte, type SQL } from 'drizzle-orm';
import type { Span } from '../core/calendar.ts';
import type { Usage } from '../core/generation.ts';
import { reportShape, unpackReport } from '../core/usage-details.ts';
import type { Database } from '../store/contract.ts';
import { usageRecords } from '../store/money-views.ts';
import { unindexed } from '../store/portable.ts';
import { BookedNames } from './booked-names.ts';
import { createAttemptReader } from './series/attempts.ts';
import { prepareSeriesStatements, type RecordRange } from './series/statements.ts';

/** The usage and charge of a request. Its prices are those of `startedAt`. */
export type UsedRequest = ReturnType<typeof fromRow>;

/** Requests that started at or after `fromMs` and before `untilMs`, of one account or of all. */
type UsageSpan = Span & {
  readonly accountId?: string | undefined;
  /** Only records with these numbers, for callers that read very many in steps. */
  readonly rows?: RecordRange;
};

/** The number of the last record; 0 where there is none. Later ones have higher numbers. */
export const lastUsageRow = (database: Database): Promise<number> =>
  prepareSeriesStatements(database).last();

/** Records per page. */
const PAGE_ROWS = 2_000;

/** Those that are not archived, in the order of their numbers, up to the last one at the time of the call. */
export async function* eachUsedRequest(
  database: Database,
  { accountId, ...span }: UsageSpan,
): AsyncGenerator<UsedRequest, void, undefined> {
  const names = new BookedNames();
  for await (const isInPage of eachPage(database, span)) {
    const page = await database.db
      .select(USED)
      .from(usageRecords)
      .where(
        and(
          isInPage,
          // `unindexed`, so that the index by account is not used: each page would scan it.
          accountId === undefined ? undefined : eq(unindexed(usageRecords.accountId), accountId),
        ),
      );
    await names.read(
      database.db,
      page.map(({ report }) => reportShape(report)),
    );
    yield* page.map((row) => fromRow(row, names));
  }
}

/** As above, of all accounts. `attempts` is empty for a request that was settled after a crash. */
export async function* eachAttemptedRequest(database: Database, span: Span) {
  const { upstream, usdPerMillion, attempts: packed } = usageRecords;
  const readAttempts = createAttemptReader(database);
  for await (const isInPage of eachPage(database, span)) {
    const selected = database.db.select({ upstream, usdPerMillion, packed });
    const rows = await selected.from(usageRecords).where(isInPage);
    const attempts = await readAttempts(rows.map((row) => row.packed));
    for (const [index, row] of rows.entries()) yield { ...row, attempts: attempts[index] ?? [] };
  }
}

/** One condition per page of rows, so that each statement reads few. */
async function* eachPage(
  database: Database,
  { fromMs, untilMs, rows }: UsageSpan,
): AsyncGenerator<SQL | undefined> {
  const until = rows?.until ?? (await lastUsageRow(database));
  const first = await prepareSeriesStatements(database).first();
  for (let after = Math.max(rows?.after ?? 0, first - 1); after < until; after += PAGE_ROWS) {
    yield and(
      gt(usageRecords.number, after),
      lte(usageRecords.number, Math.min(after + PAGE_ROWS, until)),
      gte(usageRecords.startedAt, fromMs),
      lt(usageRecords.startedAt, untilMs),
    );
  }
}

/** Selects the tokens of a request. */
export const TOKENS_OF_RECORD = {
  inputTokens: usageRecords.inputTokens,
  cachedInputTokens: usageRecords.cachedInputTokens,
  cacheWriteTokens: usageRecords.cacheWriteTokens,
  outputTokens: usageRecords.outputTokens,
  reasoningTokens: usageRecords.reasoningTokens,
};

const USED = {
  startedAt: usageRecords.startedAt,
  modelRequested: usageRecords.modelRequested,
  modelServed: usageRecords.modelServed,
  priceVersionRequested: usageRecords.priceVersionRequested,
  priceVersionServed: usageRecords.priceVersionServed,
  usage: { ...TOKENS_OF_RECORD, basis: usageRecords.usageBasis },
  report: usageRecords.report,
  charged: usageRecords.charged,
  loss: usageRecords.loss,
};

type Row = Pick<typeof usageRecords.$inferSelect, Exclude<keyof typeof USED, 'usage'>> & {
  readonly usage: Usage;
};

/** Without a `modelServed` no upstream answered, and nothing was charged. */
function fromRow(
  { modelServed, priceVersionServed, usage, report, ...row }: Row,
  names: BookedNames,
) {
  return {
    ...row,
    usage: { ...usage, ...unpackReport(report, names.text).details },
    modelServed: modelServed ?? undefined,
    priceVersionServed: priceVersionServed ?? undefined,
  };
}
