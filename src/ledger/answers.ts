// Encodes the answers of the ledger's thread as one text per batch; `protocol.ts` has the commands.
// A list of values is decoded by the command that it answers.

import { micro } from '../core/money.ts';
import type { HoldResult, LedgerRequest, Settlement } from './contract.ts';
import type { PackedError } from './error.ts';
import { type Integer, integer } from './protocol.ts';
import type { LedgerAnswer } from './writer.ts';

/** Null where the command was answered before. */
export type SentAnswer = LedgerAnswer | null;

type HoldValues = readonly [ok: boolean, available: Integer, room?: Integer, openHolds?: number];

type SettlementValues = readonly [
  debited: Integer,
  loss: Integer,
  available: Integer,
  restricted: boolean,
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

function holdValues({ ok, available, uncovered }: HoldResult): HoldValues {
  if (uncovered === undefined) return [ok, integer(available)];
  return [ok, integer(available), integer(uncovered.room), uncovered.openHolds];
}

function holdOf([ok, left, room, openHolds = 0]: HoldValues): HoldResult {
  const available = micro(BigInt(left));
  if (room === undefined) return { ok, available };
  return { ok, available, uncovered: { room: micro(BigInt(room)), openHolds } };
}

function settlementValues({ debited, loss, available, restricted }: Settlement): SettlementValues {
  return [integer(debited), integer(loss), integer(available), restricted ?? false];
}

function settlementOf([debited, loss, available, restricted]: SettlementValues): Settlement {
  const settlement = {
    debited: micro(BigInt(debited)),
    loss: micro(BigInt(loss)),
    available: micro(BigInt(available)),
  };
  return restricted ? { ...settlement, restricted } : settlement;
}

type Boxed = { readonly integer: string };

function boxInteger(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? ({ integer: String(value) } satisfies Boxed) : value;
}

function unbox(_: string, value: unknown): unknown {
  const isBox = typeof value === 'object' && value !== null && 'integer' in value;
  return isBox ? BigInt(String(value.integer)) : value;
}
