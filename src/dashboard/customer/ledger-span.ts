// The period of a file of ledger entries or receipts.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { Span } from '../../core/calendar.ts';
import { readTime } from '../period.ts';

export const SPAN_QUERY = {
  from: Type.Optional(Type.String({ maxLength: 40 })),
  to: Type.Optional(Type.String({ maxLength: 40 })),
};

/** Undefined means everything. Throws `invalid_request`. */
export function readSpan({ from, to }: Static<TObject<typeof SPAN_QUERY>>): Span | undefined {
  if (from === undefined && to === undefined) return undefined;
  return {
    fromMs: from === undefined ? 0 : readTime(from, 'from'),
    untilMs: to === undefined ? Number.MAX_SAFE_INTEGER : readTime(to, 'to'),
  };
}
