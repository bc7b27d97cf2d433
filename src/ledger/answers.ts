// Encodes the answers of the ledger's thread as one text per batch; `protocol.ts` has the commands.
// A list of values is decoded by the command that it answers.

import type { BudgetPeriod } from '../core/key-budget.ts';
import { micro } from '../core/money.ts';
import type { BudgetAnswer, HoldResult, LedgerRequest, Settlement } from './contract.ts';
import type { PackedError } from './error.ts';
import { boxInteger, type Integer, integer, unbox } from './integers.ts';
import type { LedgerAnswer } from './writer.ts';

/** Null where the command was answered before. */
export type SentAnswer = LedgerAnswer | null;

type HoldValues = readonly [
  ok: boolean,
  available: Integer,
  room?: Integer | null,
  openHolds?: number,
  budget?: BudgetValues,
];

type BudgetValues =
  | readonly [left: Integer]
  | readonly [period: BudgetPeriod, rest: Integer, room: Integer, openHolds: number];

type SettlementValues = readonly [
  debited: Integer,
  loss: Integer,
  available: Integer,
  restricted: boolean,
  counted: boolean,
];

type SentValues =
  | null
  | HoldValues
  | SettlementValues
  /** The answer to a command that no request sends; its integers are boxed. */
  | { readonly rare: string }
  | { readonly error: PackedError };

/** `answers` are in the order of the commands of `batch`. */
export function encodeAnswers(
  batch: readonly LedgerRequest[],
  answers: readonly SentAnswer[],
): string {
  return JSON.stringify(
    batch.map(({ name }, index): SentValues => {
      const answer = answers[index] ?? null;
      if (answer === null) return null;
      if (!answer.ok) return { error: answer.error };
      if (name === 'hold' || name === 'extend') return holdValues(answer.result as HoldResult);
      if (name === 'settle' || name === 'release') {
        return settlementValues(answer.result as Settlement);
      }
      return { rare: JSON.stringify(answer.result ?? null, boxInteger) };
    }),
  );
}

export function decodeAnswers(batch: readonly LedgerRequest[], text: string): SentAnswer[] {
  const sent: readonly SentValues[] = JSON.parse(text);
  return batch.map(({ name }, index): SentAnswer => {
    const values = sent[index] ?? null;
    if (values === null) return null;
    if ('error' in values) return { ok: false, error: values.error };
    if ('rare' in values) {
      return { ok: true, result: JSON.parse(values.rare, unbox) ?? undefined };
    }
    const isHold = name === 'hold' || name === 'extend';
    const result = isHold ? holdOf(values as HoldValues) : settlementOf(values as SettlementValues);
    return { ok: true, result };
  });
}

function holdValues({ ok, available, uncovered, budget }: HoldResult): HoldValues {
  if (budget !== undefined) return [ok, integer(available), null, 0, budgetValues(budget)];
  if (uncovered === undefined) return [ok, integer(available)];
  return [ok, integer(available), integer(uncovered.room), uncovered.openHolds];
}

function budgetValues(budget: BudgetAnswer): BudgetValues {
  if ('left' in budget) return [integer(budget.left)];
  return [budget.period, integer(budget.rest), integer(budget.room), budget.openHolds];
}

function holdOf([ok, left, room, openHolds = 0, budget]: HoldValues): HoldResult {
  const available = micro(BigInt(left));
  if (budget !== undefined) return { ok, available, budget: budgetOf(budget) };
  if (room === undefined || room === null) return { ok, available };
  return { ok, available, uncovered: { room: micro(BigInt(room)), openHolds } };
}

function budgetOf(values: BudgetValues): BudgetAnswer {
  if (values.length === 1) return { left: micro(BigInt(values[0])) };
  const [period, rest, room, openHolds] = values;
  return { period, rest: micro(BigInt(rest)), room: micro(BigInt(room)), openHolds };
}

function settlementValues(settlement: Settlement): SettlementValues {
  const { debited, loss, available, restricted = false, counted = false } = settlement;
  return [integer(debited), integer(loss), integer(available), restricted, counted];
}

function settlementOf(values: SettlementValues): Settlement {
  const [debited, loss, available, restricted, counted] = values;
  const settlement = {
    debited: micro(BigInt(debited)),
    loss: micro(BigInt(loss)),
    available: micro(BigInt(available)),
  };
  if (counted) return { ...settlement, counted };
  return restricted ? { ...settlement, restricted } : settlement;
}
