// The answers of the ledger's thread to a batch: each layout describes one for both ends
// (`fields.ts`). `protocol.ts` has those of the commands.

import type { HoldResult, LedgerRequest, Settlement } from './contract.ts';
import type { Fields, Layout } from './fields.ts';
import type { LedgerAnswer } from './writer.ts';

/** A batch is answered twice: its holds once decided, everything once on disk. */
export type AnswerKind = 'decided' | 'written';

/** Null where the command was answered before. */
export type SentAnswer = LedgerAnswer | null;

/** `given` is in the order of the commands of `batch`; the reader has none. */
export function answers(
  fields: Fields,
  batch: readonly LedgerRequest[],
  given: readonly SentAnswer[],
): readonly SentAnswer[] {
  return batch.map(
    ({ name }, index) => fields.optional(given[index] ?? undefined, ANSWERS[name]) ?? null,
  );
}

const json = <Value>(fields: Fields, given: Value): Value => fields.json(given);
const integer = <Value extends bigint>(fields: Fields, given: Value): Value =>
  fields.integer(given);

function answerWith<Result>(result: Layout<Result>): Layout<LedgerAnswer> {
  return (fields, given) => {
    const error = fields.optional(given.ok ? undefined : given.error, json);
    if (error !== undefined) return { ok: false, error };
    // The contract guarantees the type of the result.
    const own = given.ok ? (given.result as Result) : undefined;
    return { ok: true, result: fields.optional(own, result) };
  };
}

function held(fields: Fields, given: HoldResult): HoldResult {
  const { budget } = given;
  const isLeft = budget !== undefined && 'left' in budget;
  const result = {
    ok: fields.flag(given.ok),
    available: fields.integer(given.available),
  };
  const uncovered = fields.optional(given.uncovered, json);
  const left = fields.optional(isLeft ? budget.left : undefined, integer);
  const room = fields.optional(isLeft ? undefined : budget, json);
  if (left !== undefined) return { ...result, budget: { left } };
  if (room !== undefined) return { ...result, budget: room };
  return uncovered === undefined ? result : { ...result, uncovered };
}

function settled(fields: Fields, given: Settlement): Settlement {
  const settlement = {
    debited: fields.integer(given.debited),
    loss: fields.integer(given.loss),
    available: fields.integer(given.available),
  };
  const restricted = fields.flag(given.restricted ?? false);
  const counted = fields.flag(given.counted ?? false);
  if (counted) return { ...settlement, counted };
  return restricted ? { ...settlement, restricted } : settlement;
}

const ofHold = answerWith(held);
const ofEnd = answerWith(settled);
const ofOther = answerWith<unknown>(json);

const ANSWERS: Readonly<Record<LedgerRequest['name'], Layout<LedgerAnswer>>> = {
  hold: ofHold,
  extend: ofHold,
  checkpoint: ofOther,
  settle: ofEnd,
  release: ofEnd,
  recover: ofOther,
  credit: ofOther,
  redeem: ofOther,
  budget: ofOther,
};
