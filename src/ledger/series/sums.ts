// Reads new usage records and sums them for each series, in one pass. The roll-up writes the
// result.

import { eq, sql } from 'drizzle-orm';
import { DAY_MS } from '../../core/calendar.ts';
import { OUTCOMES } from '../../core/generation.ts';
import { micro, subtract } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { balances, requests } from '../../store/money-tables.ts';
import { BookedNames } from '../booked-names.ts';
import { type BookedAttempt, createAttemptReader } from './attempts.ts';
import { costFigures } from './costs.ts';
import { HOUR_MS } from './figures.ts';
import { type ModelFigures, sumModelFigures } from './models.ts';
import { type SpeedSum, speedsOf } from './speed-sums.ts';
import { isInRows, type RecordRange } from './statements.ts';

/** One record, or the sum of the records with the same key of a series. */
export type RecordSum = ModelFigures & {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly requested: string;
  readonly endUser: string;
  readonly hour: number;
  readonly day: number;
};

type Row = readonly [
  ...[accountId: string, endUser: string, attempts: Uint8Array | null],
  ...[model: Integer, requested: Integer, key: Integer],
  ...[startedAt: Integer, durationMs: Integer, outcome: Integer],
  ...[charged: Integer, loss: Integer, promptTokens: Integer],
  ...[input: Integer, cachedInput: Integer, output: Integer, reasoning: Integer],
];
type Integer = number | bigint;

/** The rows that each series gets. */
export type Sums = Readonly<
  Record<'hours' | 'days' | 'endUsers' | 'models' | 'accounts', readonly RecordSum[]>
> & {
  readonly speeds: readonly SpeedSum[];
};

/** `database` is migrated. */
export function createSums(database: Database) {
  const records = prepareRecords(database);
  const readAttempts = createAttemptReader(database);
  const names = new BookedNames();

  return async (range: RecordRange): Promise<Sums> => {
    const rows = await records.all(range);
    const attempts = await readAttempts(rows.map((row) => row[2]));
    const numbers = rows.flatMap((row) => row.slice(3, 6).map(Number));
    await names.read(database.db, numbers);
    const each = rows.map((row, index) => sumOf(row, names.text, attempts[index] ?? []));
    const hours = sumsBy(each, (sum) => `${sum.hour} ${kindOf(sum)}`);
    const days = sumsBy(hours, (sum) => `${sum.day} ${kindOf(sum)}`);
    return {
      hours,
      days,
      accounts: sumsBy(days, ({ day, accountId }) => `${day} ${accountId}`),
      endUsers: sumsByEndUser(each),
      models: sumsBy(hours, ({ hour, model, requested }) => `${hour} ${model} ${requested}`),
      speeds: speedsOf(
        each.map((sum, index) => {
          const { accountId, model, hour, failed, outputTokens } = sum;
          return {
            accountId,
            model,
            hour,
            failed,
            outputTokens,
            startedAt: Number(rows[index]?.[6]),
            durationMs: Number(rows[index]?.[7]),
            isComplete: sum.stopped + sum.cancelled + failed === 0,
            attempts: attempts[index] ?? [],
          };
        }),
      ),
    };
  };
}

/** One sum for each row of the series by end user. */
export function sumsByEndUser(sums: readonly RecordSum[]): readonly RecordSum[] {
  return sumsBy(sums, (sum) => `${sum.day} ${kindOf(sum)} ${sum.endUser}`);
}

function kindOf({ accountId, model, requested, keyId }: RecordSum): string {
  return `${accountId} ${model} ${requested} ${keyId}`;
}

function sumsBy(
  sums: readonly RecordSum[],
  group: (sum: RecordSum) => string,
): readonly RecordSum[] {
  return Array.from(Map.groupBy(sums, group).values(), (of) => ({
    ...(of[0] as RecordSum),
    ...sumModelFigures(of),
  }));
}

function sumOf(
  row: Row,
  textOf: (number: number) => string,
  attempts: readonly BookedAttempt[],
): RecordSum {
  const [accountId, endUser, , model, requested, key, started, , code, charge, lost, prompt] = row;
  const [input, cachedInput, output, reasoning] = row.slice(12);
  const startedAt = Number(started);
  const outcome = OUTCOMES[Number(code)];
  const charged = micro(BigInt(charge));
  const loss = micro(BigInt(lost));
  const debited = subtract(charged, loss);
  return {
    accountId,
    keyId: textOf(Number(key)),
    model: textOf(Number(model)),
    requested: textOf(Number(requested)),
    endUser,
    hour: startedAt - (startedAt % HOUR_MS),
    day: startedAt - (startedAt % DAY_MS),
    requests: 1,
    stopped: outcome === 'stopped_balance' ? 1 : 0,
    cancelled: outcome === 'client_cancelled' ? 1 : 0,
    failed: outcome === 'upstream_failed' || outcome === 'gateway_failed' ? 1 : 0,
    inputTokens: Number(input),
    cachedInputTokens: Number(cachedInput),
    outputTokens: Number(output),
    reasoningTokens: Number(reasoning),
    charged,
    debited,
    loss,
    estimatedPromptTokens: Number(prompt),
    ...costFigures(debited, attempts),
  };
}

function prepareRecords(database: Database) {
  const query = database.db
    .select({
      accountId: balances.accountId,
      endUser: sql`coalesce(${requests.endUser}, '')`,
      attempts: requests.attempts,
      model: sql`coalesce(${requests.modelServed}, ${requests.model})`,
      requested: requests.model,
      key: requests.key,
      startedAt: requests.startedAt,
      durationMs: requests.durationMs,
      outcome: requests.outcome,
      charged: requests.charged,
      loss: requests.loss,
      promptTokens: requests.promptTokens,
      inputTokens: requests.inputTokens,
      cachedInputTokens: requests.cachedInputTokens,
      outputTokens: requests.outputTokens,
      reasoningTokens: requests.reasoningTokens,
    })
    .from(requests)
    .innerJoin(balances, eq(balances.number, requests.account))
    .where(isInRows(requests.number))
    // Who comes first has a name where a day has little room.
    .orderBy(requests.number);
  return database.prepare<RecordRange, Row>(query);
}
