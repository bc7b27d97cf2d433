// The invariants of a simulation. Each check is named after the number of its invariant and throws
// with the request's history when it fails.

import { eq, sql } from 'drizzle-orm';
import { USUAL_PACE } from '../../src/core/learned.ts';
import { formatTokens } from '../../src/core/money.ts';
import type { Plan } from '../../src/core/plan.ts';
import { balances } from '../../src/store/money-tables.ts';
import { holds, ledgerEntries, usageRecords } from '../../src/store/money-views.ts';
import type { Received } from './customer.ts';
import type { Gateway } from './gateway.ts';
import type { Served } from './upstream.ts';

export type Facts = {
  readonly gateway: Gateway;
  readonly received: readonly Received[];
  readonly book: readonly Served[];
  /** Everything that was paid in, once, in 10⁻⁶ service token. */
  readonly paidIn: ReadonlyMap<string, bigint>;
  readonly planOf: (accountId: string) => Plan;
};

export class Violation extends Error {
  override readonly name = 'Violation';
}

/** A connection may take so long, in which nothing is made. */
const CONNECT_MS = 1_000;

/** No measured pace of a model without a stated one is higher. */
const PACE_MAX = USUAL_PACE * 4;

function hold(invariant: string, holds: boolean, story: () => unknown): void {
  if (holds) return;
  const text = JSON.stringify(story(), (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  throw new Violation(`${invariant}: ${text}`);
}

/** After every step: what must be true at any instant. */
export async function checkInstant({ database }: Gateway): Promise<void> {
  for (const row of await database.db.select().from(balances).all()) {
    hold('I-03 no balance is negative', row.posted - row.held >= 0n, () => row);
  }
}

/** When no request is in progress any more. */
export async function checkEnd(facts: Facts): Promise<void> {
  const { gateway, received, book } = facts;
  const { db } = gateway.database;
  const open = await db.select().from(holds).all();
  hold('I-08 every hold has ended', open.length === 0, () => open);
  hold('I-12 nothing is in flight', gateway.inFlight() === 0, () => gateway.inFlight());
  for (const accountId of facts.paidIn.keys()) {
    const { inFlight } = await gateway.limits.usage(accountId, facts.planOf(accountId));
    hold('I-12 no slot has leaked', inFlight === 0, () => ({ accountId, inFlight }));
  }
  const differences = await gateway.books.audit();
  hold('I-01 the books agree', differences.length === 0, () => differences);
  const total = await db
    .select({ sum: sql<bigint>`coalesce(sum(${ledgerEntries.amount}), 0)` })
    .from(ledgerEntries)
    .get();
  hold('I-01 all legs sum to zero', total?.sum === 0n, () => total);
  await checkCredits(facts);
  const served = Map.groupBy(book, (each) => each.marker);
  for (const memory of received) await checkRequest(facts, memory, served.get(memory.marker) ?? []);
  checkSlots(facts);
  await checkWindows(facts);
}

async function checkCredits({ gateway, paidIn }: Facts): Promise<void> {
  const { db } = gateway.database;
  for (const [accountId, expected] of paidIn) {
    const row = await db
      .select({ sum: sql<bigint>`coalesce(sum(${ledgerEntries.amount}), 0)` })
      .from(ledgerEntries)
      .where(
        sql`${ledgerEntries.ledgerAccount} = ${`customer:${accountId}`} and ${ledgerEntries.kind} not in ('settle', 'loss')`,
      )
      .get();
    hold('I-06 credits are booked once', row?.sum === expected, () => ({
      accountId,
      expected,
      row,
    }));
  }
}

async function checkRequest(
  { gateway }: Facts,
  memory: Received,
  served: readonly Served[],
): Promise<void> {
  const { db } = gateway.database;
  const record = await db
    .select()
    .from(usageRecords)
    .where(eq(usageRecords.requestId, memory.requestId))
    .get();
  const story = (): unknown => ({ memory, record, served });
  const sent = Math.max(0, ...served.map((each) => each.sent));
  if (memory.bill !== undefined) {
    const booked = record === undefined ? undefined : formatTokens(record.debited);
    hold('I-11 what is reported is what is booked', booked === memory.bill.debited, story);
    const sameOutcome =
      memory.bill.outcome === undefined || memory.bill.outcome === record?.outcome;
    hold('I-11 the outcome that is reported is the one that is booked', sameOutcome, story);
  }
  if (memory.refused !== undefined) {
    hold('I-10 a refusal costs nothing', (record?.debited ?? 0n) === 0n, story);
  }
  if (record === undefined) return;
  hold('I-05 amounts add up', record.debited + record.loss === record.charged, story);
  if (served.length === 0)
    hold(
      'I-04 what was never asked costs nothing',
      record.debited === 0n || record.usageBasis === 'recovered',
      story,
    );
  const isOwnCount = record.usageBasis === 'estimated';
  // What was made unseen is estimated by the time that it took.
  const workedMs = Math.max(
    0,
    ...served.map((each) => (each.endedAt ?? Infinity) - each.startedAt),
  );
  const unseen = (4 * PACE_MAX * (workedMs + CONNECT_MS)) / 1_000;
  if (isOwnCount && record.outcome !== 'upstream_failed') {
    hold(
      'I-04 nothing is charged that no upstream has sent',
      record.outputTokens * 4 <= sent + 4 + unseen,
      story,
    );
  }
  if (isOwnCount && memory.characters > 0)
    hold('I-07 no content is free by accident', record.charged > 0n, story);
  const wasStopped = ({ stopped, endedAt }: Served): boolean =>
    stopped && endedAt === memory.leftAt;
  if (record.outcome === 'client_cancelled' && served.some(wasStopped))
    hold(
      'I-07 what an upstream had is paid for by a client that leaves',
      record.charged > 0n,
      story,
    );
  if (record.usageBasis === 'recovered') {
    hold('I-08 what is recovered stays within the hold', record.debited <= record.held, story);
    hold('I-08 what is recovered was produced', record.outputTokens * 4 <= sent + 4, story);
  }
  const bound = memory.maxTokens;
  if (bound !== undefined)
    hold("the caller's bound bounds the charge", record.outputTokens <= bound, story);
  const delivered = Math.floor(memory.characters / 4);
  if (record.outcome === 'stopped_balance') {
    hold(
      'what was passed on for money was paid',
      record.loss === 0n || delivered <= record.outputTokens,
      story,
    );
  }
}

/**
 * At the upstreams themselves: no account has more requests in progress than its plan has slots.
 * What a client has left does not count, for it may be read to its end without a slot.
 */
function checkSlots({ received, book, planOf }: Facts): void {
  const asked = new Map(received.filter(({ left }) => !left).map((each) => [each.marker, each]));
  const counted = book.filter(({ marker }) => asked.has(marker));
  const accountOf = ({ marker }: Served): string => asked.get(marker)?.accountId ?? '';
  for (const [accountId, served] of Map.groupBy(counted, accountOf)) {
    const limit = planOf(accountId).concurrentRequests;
    for (const each of served) {
      const together = served.filter(
        (other) =>
          other.startedAt <= each.startedAt &&
          (other.doneAt ?? other.endedAt ?? Infinity) > each.startedAt,
      );
      hold('I-12 never more at once than slots', together.length <= limit, () => ({
        accountId,
        together,
      }));
    }
  }
}

const SPAN_MS = 60_000;

/** A span as long as a window meets two windows at most. */
async function checkWindows({ gateway, received, planOf }: Facts): Promise<void> {
  const { db } = gateway.database;
  const admitted = new Set(
    (await db.select({ id: usageRecords.requestId }).from(usageRecords).all()).map(({ id }) => id),
  );
  for (const [accountId, asked] of Map.groupBy(received, (memory) => memory.accountId)) {
    const times = asked
      .filter(({ requestId }) => admitted.has(requestId))
      .map(({ askedAt }) => askedAt);
    const limit = planOf(accountId).requestsPerMinute;
    for (const start of times) {
      const within = times.filter((at) => at >= start && at < start + SPAN_MS).length;
      hold('I-13 no span admits more than two windows', within <= 2 * limit, () => ({
        accountId,
        start,
        within,
      }));
    }
  }
}
