// Events of the audit trail as operators read them.

import '../../../support/english.ts';
import { expect, test } from 'bun:test';
import {
  actionWords,
  actorWords,
  detailWords,
} from '../../../../src/dashboard/web/operator/audit/labels.ts';

test.each([
  ['account.plan_changed', 'Account plan changed'],
  ['api_key.revoked', 'API key revoked'],
  ['money.credited', 'Balance credited'],
])('%s is %s', (action, words) => {
  expect(actionWords(action)).toBe(words);
});

test.each([
  [
    { from: 'active', to: 'suspended', reason: 'chargeback' },
    'active → suspended; reason: chargeback',
  ],
  [{ from: null, to: 'on' }, 'none → on'],
  [{ from: false, to: true }, 'no → yes'],
  [{ amount: '1000000.5', reason: 'invoice' }, 'amount: $1.0000005; reason: invoice'],
  [{ requestsPerMinute: 30 }, 'requests per minute: 30'],
  [{ masked: 'sk-a…b', rotated_from: null, reason: '' }, 'key: sk-a…b'],
  [{}, ''],
])('formats %j', (detail, words) => {
  expect(detailWords(detail)).toBe(words);
});

test('formats a time in the time zone of the viewer', () => {
  const at = Date.UTC(2026, 10, 21, 12);
  expect(detailWords({ expires_at: at })).toMatch(/^expires: \d{1,2} Nov 2026, \d\d:\d\d$/);
});

test.each([
  ['operator:ops@example.com', 'ops@example.com'],
  ['operator', 'Command line'],
  ['system', 'System'],
  ['acct_abc', 'Owner'],
  ['visitor', 'Visitor'],
  ['other', 'other'],
])('%s is %s', (actor, words) => {
  expect(actorWords(actor)).toBe(words);
});
