// Fills a database with past requests: a number of requests, accounts and days, written by the
// ledger itself, so that entries, receipts and balances match a gateway that served them.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../../src/core/generation.ts';
import { createRequestId } from '../../src/core/id.ts';
import { add, micro, pico, tokenCount, usdRate } from '../../src/core/money.ts';
import { charge } from '../../src/core/price.ts';
import { createBooks } from '../../src/ledger/books.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { createWriter, type LedgerRequest } from '../../src/ledger/writer.ts';
import type { Database } from '../../src/store/contract.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { accounts, apiKeys } from '../../src/store/tables.ts';
import { say, secondsSince } from './table.ts';

export type HistoryOptions = {
  readonly requests: number;
  readonly accounts: number;
  readonly days: number;
  /** When the last request ends. */
  readonly nowMs: number;
};

/** The account that made half of all requests. */
export const HEAVY = 'acct_heavy';

export const accountName = (index: number): string => (index === 0 ? HEAVY : `acct_bench${index}`);

const MODELS = ['swift-1', 'deep-1', 'swift-0', 'vision-1', 'mini-1'];
const KEYS = 8;
const END_USERS = 300;

/** For half of sixty million requests at some 600 service tokens each; 200 such accounts fit 64 bits together. */
const CREDIT = micro(4n * 10n ** 16n);
const DAY_MS = 86_400_000;
const BATCH = 250;

/** Neighbours share rows of the series, so that larger steps write fewer rows a request. */
const STEP_RECORDS = 20_000;

/** Service tokens a model token, as every model of this past has it. */
const priceOf = (model: string) => ({
  version: `${model}@1`,
  input: pico(150_000_000_000n),
  cachedInput: pico(30_000_000_000n),
  cacheWrite: pico(150_000_000_000n),
  output: pico(600_000_000_000n),
});

/** Numbers that look random and are the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function databaseUrl(directory: string): string {
  return `sqlite:${join(directory, 'data/tollgate.db')}`;
}

/** Makes the database of a gateway's folder, with so many of the records in the series of usage. */
export async function writePast(
  directory: string,
  past: Omit<HistoryOptions, 'nowMs'>,
  addedUp = Number.POSITIVE_INFINITY,
): Promise<void> {
  await mkdir(join(directory, 'data'));
  const database = openDatabase({ url: databaseUrl(directory), sync: 'normal' });
  await migrate(database);
  const startedAt = performance.now();
  await writeHistory(database, { ...past, nowMs: Date.now() });
  say(
    `${past.requests.toLocaleString('en')} requests were written in ${secondsSince(startedAt)} s`,
  );
  const addingAt = performance.now();
  const rollUp = createRollUp(database);
  for (let left = addedUp; left > 0; ) {
    const done = await rollUp.step(Math.min(STEP_RECORDS, left));
    if (done === 0) break;
    left -= done;
  }
  say(`their usage was added up in ${secondsSince(addingAt)} s`);
  await database.close();
}

/** `database` is migrated and empty. */
export async function writeHistory(database: Database, options: HistoryOptions): Promise<void> {
  const { requests, days, nowMs } = options;
  const startMs = nowMs - days * DAY_MS;
  await addAccounts(database, options.accounts, startMs);
  const write = createWriter(database);
  const random = createRandom(1);
  const bytes = (length: number) => Uint8Array.from({ length }, () => random(248));
  const stepMs = (days * DAY_MS) / requests;
  await write(
    Array.from({ length: options.accounts }, (_, index) => ({
      name: 'credit',
      command: {
        creditId: `bench-${index}`,
        accountId: accountName(index),
        kind: 'credit',
        amount: CREDIT,
        reason: 'bench',
        nowMs: startMs,
      },
    })),
  );
  for (let done = 0; done < requests; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, requests - done) }, (_, index) => {
      const at = Math.floor(startMs + (done + index) * stepMs);
      return requestOf(createRequestId(at, bytes), at, options.accounts, random);
    });
    const answers = await write(batch.flat());
    const failed = answers.find(({ ok }) => !ok);
    if (failed !== undefined)
      throw new Error(`the past could not be written: ${JSON.stringify(failed)}`);
  }
}

async function addAccounts(database: Database, count: number, atMs: number): Promise<void> {
  const { openBalance } = createBooks(database);
  await database.transaction(async (tx) => {
    for (let index = 0; index < count; index += 1) {
      const id = accountName(index);
      const facts = { plan: 'bench', planSince: atMs, standing: 'active' as const };
      await tx
        .insert(accounts)
        .values({ id, email: `${id}@example.org`, ...facts, emailVerified: true, createdAt: atMs })
        .run();
      await openBalance(tx, id);
      for (let key = 0; key < KEYS; key += 1) {
        const digest = new Bun.CryptoHasher('sha256').update(`${id} ${key}`).digest('hex');
        const masked = 'sk-benc…mark';
        await tx
          .insert(apiKeys)
          .values({ id: `key_${id}_${key}`, accountId: id, digest, masked, createdAt: atMs })
          .run();
      }
    }
  });
}

/** A hold and its end. */
function requestOf(
  requestId: string,
  startedAt: number,
  accountCount: number,
  random: (below: number) => number,
): readonly LedgerRequest[] {
  const accountId = accountName(random(2) === 0 ? 0 : 1 + random(accountCount - 1));
  const model = MODELS[Math.min(random(MODELS.length), random(MODELS.length))] ?? 'swift-1';
  const price = priceOf(model);
  const failed = random(50) === 0;
  const outcome: Outcome = failed
    ? 'upstream_failed'
    : random(40) === 0
      ? 'client_cancelled'
      : 'completed';
  const inputTokens = 200 + random(6_000);
  const usage = {
    inputTokens,
    cachedInputTokens: random(inputTokens),
    cacheWriteTokens: 0,
    outputTokens: 20 + random(900),
    reasoningTokens: random(20),
    basis: 'reported' as const,
  };
  const attempt = {
    ...{ upstream: 'bench', model, upstreamModel: model, credential: '1' },
    ...{
      startedAt: startedAt + 2,
      endedAt: startedAt + 1_900,
      firstByteMs: 310.4,
      firstContentMs: 420.1,
    },
    usage,
    cost: '120.5',
  };
  const cost = charge(usage, price);
  return [
    {
      name: 'hold',
      command: {
        ...{
          requestId,
          accountId,
          keyId: `key_${accountId}_${random(KEYS)}`,
          model,
          price,
        },
        ...{ format: random(3) === 0 ? 'messages' : 'chat', stream: random(4) > 0 },
        endUser: `user-${random(END_USERS)}`,
        ...{
          amount: add(cost, cost),
          promptTokens: tokenCount(inputTokens),
          outputBound: tokenCount(4_096),
          nowMs: startedAt,
        },
      },
    },
    {
      name: 'settle',
      command: {
        ...{ requestId, charge: cost, outcome, usage, usdPerMillion: usdRate(1_000_000n) },
        served: { model, upstream: 'bench', price },
        attempts: JSON.stringify([attempt]),
        rawUsage: '{"prompt_tokens":1200,"completion_tokens":345,"total_tokens":1545}',
        nowMs: startedAt + 1_900,
      },
    },
  ];
}
