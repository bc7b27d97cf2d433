// Reads all facts about one request from the books. The command line prints them.

import { eq, inArray } from 'drizzle-orm';
import { shapeNumber, unpackText } from '../core/shape.ts';
import { reportShape, type UsageDetails, unpackReport } from '../core/usage-details.ts';
import type { HoldEnd } from '../store/columns.ts';
import type { Database, Queries } from '../store/contract.ts';
import { priceVersions, texts } from '../store/money-tables.ts';
import { holds, ledgerEntries, usageRecords } from '../store/money-views.ts';
import { BookedNames } from './booked-names.ts';
import { NO_ATTEMPTS } from './end-hold.ts';
import { hashText } from './receipts.ts';

export type RequestHistory = {
  readonly hold: HoldHistory;
  /** Absent while the request is running. */
  readonly record: RecordHistory | undefined;
  /** Two legs per transfer; none where nothing was charged. */
  readonly entries: readonly (typeof ledgerEntries.$inferSelect)[];
  /** The price of the requested model and, where another one served, that of the other. */
  readonly prices: readonly (typeof priceVersions.$inferSelect)[];
  /** Its link in the account's chain; absent while the request is running. */
  readonly receipt: { readonly sequence: number; readonly hash: string } | undefined;
};

type Hold = typeof holds.$inferSelect;

/**
 * held         nothing was delivered yet
 * delivering   the client has got content
 */
type HoldPhase = 'held' | 'delivering' | HoldEnd;

/** The hold of a request, open or ended. */
type HoldHistory = Pick<
  Hold,
  'requestId' | 'accountId' | 'keyId' | 'model' | 'priceVersion' | 'amount'
> &
  Pick<Hold, 'promptTokens' | 'outputBound' | 'startedAt'> & {
    readonly phase: HoldPhase;
    readonly endedAt: number | null;
    /** What the client had received by then; kept while the hold is open. */
    readonly checkpoint:
      | (Pick<Hold, 'upstream' | 'modelServed' | 'outputTokens' | 'reasoningTokens'> & {
          readonly at: number;
        })
      | undefined;
  };

type UsageRecord = typeof usageRecords.$inferSelect;

type RecordHistory = Omit<UsageRecord, 'report' | 'attempts' | 'hash'> & {
  readonly details: UsageDetails;
  /** The usage as the upstream reported it. */
  readonly rawUsage: string | null;
  readonly attempts: string;
};

/** One consistent snapshot of the books. */
export async function explain(
  database: Database,
  requestId: string,
): Promise<RequestHistory | undefined> {
  return database.snapshot(async (tx) => {
    const isMeant = eq(usageRecords.requestId, requestId);
    const row = await tx.select().from(usageRecords).where(isMeant).get();
    if (row !== undefined) return explainEnded(tx, row);
    const open = await tx.select().from(holds).where(eq(holds.requestId, requestId)).get();
    if (open === undefined) return undefined;
    const prices = await pricesOf(tx, [open.priceVersion, open.priceVersionServed]);
    return { hold: openHold(open), record: undefined, entries: [], prices, receipt: undefined };
  });
}

async function explainEnded(tx: Queries, row: UsageRecord): Promise<RequestHistory> {
  const { report, attempts, hash, ...record } = row;
  const names = new BookedNames();
  await names.read(tx, [reportShape(report)]);
  const { requestId, priceVersionRequested, priceVersionServed } = row;
  const entries = await tx
    .select()
    .from(ledgerEntries)
    .where(eq(ledgerEntries.requestId, requestId))
    .all();
  return {
    hold: endedHold(record),
    record: {
      ...record,
      ...unpackReport(report, names.text),
      attempts: (await unpacked(tx, attempts)) ?? NO_ATTEMPTS,
    },
    entries,
    prices: await pricesOf(tx, [priceVersionRequested, priceVersionServed]),
    receipt: { sequence: row.sequence, hash: hashText(hash) },
  };
}

function openHold({ checkpointAt, ...hold }: Hold): HoldHistory {
  if (checkpointAt === null) {
    return { ...hold, phase: 'held', endedAt: null, checkpoint: undefined };
  }
  const checkpoint = { ...hold, at: checkpointAt };
  return { ...hold, phase: 'delivering', endedAt: null, checkpoint };
}

function endedHold(record: Omit<UsageRecord, 'report' | 'attempts' | 'hash'>): HoldHistory {
  return {
    ...record,
    model: record.modelRequested,
    priceVersion: record.priceVersionRequested,
    amount: record.held,
    promptTokens: record.estimatedPromptTokens,
    phase: record.ending,
    checkpoint: undefined,
  };
}

async function pricesOf(tx: Queries, versions: readonly (string | null)[]) {
  const named = versions.flatMap((version) => version ?? []);
  return tx
    .select()
    .from(priceVersions)
    .where(inArray(priceVersions.version, named))
    .orderBy(priceVersions.version)
    .all();
}

/** Restores a text that the books store as the numbers in its shape. */
async function unpacked(tx: Queries, packed: Uint8Array | null): Promise<string | null> {
  if (packed === null) return null;
  const number = shapeNumber(packed);
  const isShape = eq(texts.number, number ?? 0);
  const shape =
    number === undefined ? undefined : await tx.select().from(texts).where(isShape).get();
  return unpackText(packed, () => shape?.text ?? '');
}
