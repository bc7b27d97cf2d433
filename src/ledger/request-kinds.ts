// The conditions of request filters over the rows of the books. They compare the numbers that rows
// have instead of texts, so that a scan of very many rows needs no other table.

import { eq, gt, inArray, or, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { Outcome } from '../core/generation.ts';
import type { RequestFailure } from '../core/request-failure.ts';
import { endingCode, HOLD_ENDS } from '../store/columns.ts';
import { balances, requests, texts } from '../store/money-tables.ts';

/** How requests end, as customers see it: internal causes of failure are left out. */
export type RequestEnding = 'completed' | 'stopped_balance' | 'client_cancelled' | 'failed';

/** What clients received: an answer, or one of these failures. */
export type Received = {
  readonly answers: boolean;
  readonly failures: readonly RequestFailure[];
};

export type RequestKind = {
  /** The model that was requested or the one that served. */
  readonly model?: string | undefined;
  /** The model that served or, if none did, the requested one. */
  readonly served?: string | undefined;
  readonly requested?: string | undefined;
  readonly keyId?: string | undefined;
  readonly outcome?: RequestEnding | undefined;
  readonly received?: Received | undefined;
  /** Empty: requests without an end user. */
  readonly endUser?: string | undefined;
  readonly upstream?: string | undefined;
  /** Without the requests whose receipts are up to this one. */
  readonly afterReceipt?: number | undefined;
};

/** The outcomes of rows for each of the four endings. */
const ENDINGS: Readonly<Record<RequestEnding, Outcome[]>> = {
  completed: ['completed'],
  stopped_balance: ['stopped_balance'],
  client_cancelled: ['client_cancelled'],
  failed: ['upstream_failed', 'gateway_failed'],
};

export function isOfKind(kind: RequestKind): readonly (SQL | undefined)[] {
  const { model, served, requested, keyId, outcome, received, endUser, upstream } = kind;
  const { afterReceipt } = kind;
  return [
    model === undefined
      ? undefined
      : or(eq(requests.model, textNumber(model)), eq(requests.modelServed, textNumber(model))),
    served === undefined
      ? undefined
      : eq(sql`coalesce(${requests.modelServed}, ${requests.model})`, textNumber(served)),
    requested === undefined ? undefined : eq(requests.model, textNumber(requested)),
    keyId === undefined ? undefined : eq(requests.key, textNumber(keyId)),
    outcome === undefined ? undefined : inArray(requests.outcome, ENDINGS[outcome]),
    received === undefined ? undefined : isReceived(received),
    endUser === undefined ? undefined : eq(sql`coalesce(${requests.endUser}, '')`, endUser),
    upstream === undefined ? undefined : eq(requests.upstream, textNumber(upstream)),
    afterReceipt === undefined ? undefined : gt(requests.sequence, afterReceipt),
  ];
}

/** Whether any request can be of this kind. */
export function isPossible({ received }: RequestKind): boolean {
  return received === undefined || received.answers || received.failures.length > 0;
}

function isReceived({ answers, failures }: Received): SQL | undefined {
  return or(
    inArray(
      requests.ending,
      failures.flatMap((failure) => HOLD_ENDS.map((end) => endingCode(end, failure))),
    ),
    answers ? inArray(requests.outcome, ['completed', 'stopped_balance']) : undefined,
  );
}

/** A subquery that the database runs once per statement. */
const textNumber = (text: string): SQL =>
  sql`(select ${texts.number} from ${texts} where ${texts.text} = ${text})`;

export const accountNumber = (accountId: string | Placeholder): SQL =>
  sql`(select ${balances.number} from ${balances} where ${balances.accountId} = ${accountId})`;
