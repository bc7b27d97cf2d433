// The words of every alert, and which of them are the same alert to a reader.

import { expect, test } from 'bun:test';
import { type Alert, alertSubject } from '../../src/core/alert.ts';
import { alertWords } from '../../src/core/alert-sentence.ts';

const requestId = 'req_1';

/** One of each kind; a kind without a row does not compile. */
const ROWS: {
  readonly [Kind in Alert['kind']]: readonly [Extract<Alert, { kind: Kind }>, string, string];
} = {
  credential_refused: [
    { kind: 'credential_refused', upstream: 'alpha', credential: '2', status: 402 },
    'alpha 2',
    'upstream alpha refuses our credential 2 or its account (status 402); check its api_key and balance',
  ],
  breaker_opened: [
    { kind: 'breaker_opened', upstream: 'alpha', model: 'swift-1' },
    'alpha swift-1',
    'upstream alpha fails for swift-1; its circuit breaker is open',
  ],
  parameter_refused: [
    {
      kind: 'parameter_refused',
      upstream: 'alpha',
      model: 'swift-1',
      parameter: 'max_tokens',
      said: '400 invalid_value (max_tokens): max_tokens is too large',
    },
    'alpha swift-1 max_tokens',
    'upstream alpha refuses max_tokens for swift-1, which its profile or the catalog sets; it said "400 invalid_value (max_tokens): max_tokens is too large"',
  ],
  usage_doubted: [
    {
      kind: 'usage_doubted',
      model: 'swift-1',
      upstream: 'alpha',
      doubt: 'implausible',
      requestId,
    },
    'alpha swift-1 implausible',
    'the usage that upstream alpha reported of swift-1 for req_1 is implausible; the larger of our own count and the bound of the request was charged; check context_window and max_output of the model',
  ],
  usage_missing: [
    { kind: 'usage_missing', upstream: 'alpha', model: 'swift-1', streamed: true },
    'alpha swift-1 streamed',
    'upstream alpha does not report the usage of most streamed answers of swift-1; our own count is charged. Run tollgate upstream test, and compare a bill with tollgate reconcile',
  ],
  prompt_doubted: [
    { kind: 'prompt_doubted', upstream: 'alpha', model: 'swift-1', ratio: '110' },
    'alpha swift-1',
    'upstream alpha reports 110 times the prompt tokens that we count for swift-1; check which model it serves, and compare a bill with tollgate reconcile',
  ],
  word_unknown: [
    {
      kind: 'word_unknown',
      upstream: 'alpha',
      model: 'swift-1',
      what: 'finish_reason',
      word: 'so\n"long"',
    },
    'alpha swift-1 finish_reason',
    'upstream alpha sends the unknown finish_reason "so??long?" for swift-1; compare its documentation with its profile',
  ],
  account_restricted: [
    { kind: 'account_restricted', accountId: 'acct_1', requestId },
    'acct_1',
    'account acct_1 could not pay charges above the bound, the last of them req_1; its requests are now accepted only if the balance covers their worst case, until as much is credited',
  ],
  key_runaway: [
    {
      kind: 'key_runaway',
      accountId: 'acct_1',
      keyId: 'key_1',
      spent: '9000000',
      allowed: '5000000',
    },
    'key_1',
    'key key_1 of account acct_1 spent 9000000 service tokens within ten minutes, where its habit allows 5000000; it is paused until its owner resumes it',
  ],
  ledger_failing: [
    { kind: 'ledger_failing', trouble: 'kept', requestId },
    'kept',
    'ledger: kept req_1: its end could not be written and will be retried; check the disk of the database',
  ],
  database_lost: [
    { kind: 'database_lost', requests: 1, sinceMs: 1_800_000_000_000 },
    '',
    'the database file is missing or was replaced: no new requests are served, and 1 request in progress and everything booked since 2027-01-15T08:00:00.000Z are lost unless that file is restored; stop the server, restore the file, and start the server again',
  ],
  ledger_stopped: [
    { kind: 'ledger_stopped' },
    '',
    'ledger: its thread crashed and is being restarted',
  ],
  hold_lost: [
    { kind: 'hold_lost', requestId },
    '',
    'ledger: the hold of req_1 had no request any more and was released',
  ],
  audit_difference: [
    { kind: 'audit_difference', count: 1 },
    '',
    'audit: the ledger is inconsistent in 1 place; run tollgate doctor for details',
  ],
  audit_failed: [
    { kind: 'audit_failed' },
    '',
    'audit: the ledger could not be read; see the log for the cause',
  ],
  backup_failed: [
    { kind: 'backup_failed', reason: 'damaged' },
    'damaged',
    'backup: the copy was damaged and was removed; run tollgate doctor, because the database may be too',
  ],
  archive_failed: [
    { kind: 'archive_failed', reason: 'space' },
    'space',
    'archive: the disk of the archives has too little space left; the log has the names',
  ],
  catalog_refused: [
    { kind: 'catalog_refused', problems: 2 },
    '',
    'the changed catalog has 2 problems and was rejected; the previous catalog stays active',
  ],
  internal_error: [{ kind: 'internal_error', requestId }, '', 'internal error in req_1'],
};

test.each(Object.entries(ROWS))('%s', (_kind, [alert, subject, words]) => {
  expect([alertSubject(alert), alertWords(alert)]).toEqual([subject, words]);
});

test('the other words of those that have two', () => {
  const others: readonly Alert[] = [
    { kind: 'credential_refused', upstream: 'alpha', credential: '1' },
    { kind: 'credential_refused', upstream: 'alpha', credential: '1', reason: 'no token' },
    { kind: 'usage_doubted', model: 'swift-1', upstream: 'alpha', doubt: 'zero', requestId },
    { kind: 'usage_doubted', model: 'swift-1', upstream: 'alpha', doubt: 'malformed', requestId },
    { kind: 'ledger_failing', trouble: 'given_up', requestId },
    { kind: 'ledger_failing', trouble: 'refused', requestId },
    { kind: 'audit_difference', count: 3 },
    { kind: 'catalog_refused', problems: 1 },
  ];
  expect(others.map(alertWords)).toEqual([
    'upstream alpha refuses our credential 1 or its account (status unknown); check its api_key and balance',
    'upstream alpha cannot be used with credential 1: no token',
    'the usage that upstream alpha reported of swift-1 for req_1 is zero although there was something to count; it was charged as zero',
    'the usage that upstream alpha reported of swift-1 for req_1 is malformed; our own count was charged instead',
    'ledger: given_up req_1: the ledger refused its end; run tollgate explain and tollgate doctor',
    'ledger: refused req_1: its money could not be written, so its client got 503, as others may; check the disk or the server of the database',
    'audit: the ledger is inconsistent in 3 places; run tollgate doctor for details',
    'the changed catalog has 1 problem and was rejected; the previous catalog stays active',
  ]);
});
