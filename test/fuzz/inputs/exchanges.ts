// One answer on its way to a client: its events, its silences, how it ended and what it cost.

import fc from 'fast-check';
import { ERRORS, type ErrorCode } from '../../../src/core/error.ts';
import { answerSequence, head, receipt } from './answers.ts';
import { readLengths } from './reads.ts';
import { anyText } from './text.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

export const error = fc.record(
  { code: fc.constantFrom(...CODES), message: anyText, param: anyText },
  { requiredKeys: ['code'] },
);

export const exchange = fc.record({
  events: answerSequence,
  head,
  receipt,
  /** Before which events the upstream was silent for a while. */
  silences: fc.uniqueArray(fc.nat({ max: 20 }), { maxLength: 3 }),
  /** How many events had come when the balance or the upstream ended the answer. */
  stoppedAfter: fc.nat({ max: 20 }),
  error: fc.option(error, { nil: undefined }),
});

export type Exchange = typeof exchange extends fc.Arbitrary<infer Input> ? Input : never;

/** The same, and where its bytes are split on their way to a reader. */
export const sentExchange = fc
  .record({ exchange, lengths: readLengths })
  .map(({ exchange, lengths }) => ({ ...exchange, lengths }));

export type SentExchange = typeof sentExchange extends fc.Arbitrary<infer Input> ? Input : never;
