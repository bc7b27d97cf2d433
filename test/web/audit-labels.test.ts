// Events of the audit trail as accounts and operators read them.

import '../support/english.ts';
import { expect, test } from 'bun:test';
import { actionWords, actorWords, detailWords } from '../../src/web/shared/audit/labels.ts';

test.each([
  ['account.plan_changed', 'Plan changed'],
  ['api_key.revoked', 'API key revoked'],
  ['money.credited', 'Balance credited'],
  ['two_factor.turned_on', 'Two factor turned on'],
])('%s is %s', (action, words) => {
  expect(actionWords(action)).toBe(words);
});

test.each([
  [
    { from: 'active', to: 'suspended', reason: 'chargeback' },
    'active → suspended; reason: chargeback',
  ],
  [{ to: 'pro' }, 'pro'],
  [{ from: null, to: 'on' }, 'none → on'],
  [{ from: false, to: true }, 'no → yes'],
  [{ amount: '1000000.5', reason: 'invoice' }, 'amount: $1.0000005; reason: invoice'],
  [{ requestsPerMinute: 30 }, 'requests per minute: 30'],
  [{ masked: 'sk-a…b', rotated_from: null, reason: '' }, 'key: sk-a…b'],
  [{ masked: 'sk-a…b', reason: 'leak_report' }, 'key: sk-a…b; reason: reported as leaked'],
  [
    { masked: 'sk-a…b', reason: 'runaway', spent: '2000000' },
    'key: sk-a…b; reason: spend far above its habit; spent: $2.00',
  ],
  [{ with: 'password and code' }, 'with: password and code'],
  [{ masked: 'password', value: 'rotated' }, 'key: password; value: rotated'],
  [{ role: 'admin', runaway_guard: 'on' }, 'role: Admin; runaway guard: on'],
  [{ ended: 3 }, 'sessions: 3'],
  [
    { kind: 'account', value: 'acct_a', reason: 'chargeback', expires_at: null },
    'Account acct_a; reason: chargeback',
  ],
  [
    { name: 'billing', scopes: '["usage:read","prices:read"]' },
    'name: billing; scopes: usage:read, prices:read',
  ],
  [{ models: '["swift-2","swi… (9, sha256 ab)' }, 'models: swift-2, swi… (9, sha256 ab)'],
  [{}, ''],
])('formats %j', (detail, words) => {
  expect(detailWords({ action: 'any', detail })).toBe(words);
});

test('formats a time in the time zone of the viewer', () => {
  const at = Date.UTC(2026, 10, 21, 12);
  const wordsOf = (detail: Parameters<typeof detailWords>[0]['detail']) =>
    detailWords({ action: 'any', detail });
  expect(wordsOf({ expires_at: at })).toMatch(/^expires: \d{1,2} Nov 2026, \d\d:\d\d$/);
  expect(wordsOf({ expires_at: new Date(at).toISOString() })).toMatch(/^expires: \d/);
  expect(wordsOf({ works_until: new Date(at).toISOString() })).toMatch(
    /^works until: \d{1,2} Nov 2026, \d\d:\d\d$/,
  );
});

test('formats the limits of a budget', () => {
  const budget = { total: null, day: '2000000', month: '5000000' };
  const wordsOf = (from: object | null, to: object) =>
    detailWords({ action: 'api_key.budget_set', detail: JSON.parse(JSON.stringify({ from, to })) });
  expect(wordsOf(null, budget)).toBe('none → $2.00 per day, $5.00 per month');
  expect(wordsOf(budget, { total: null })).toBe('$2.00 per day, $5.00 per month → none');
});

test('labels the standing of an account', () => {
  const action = 'account.standing_changed';
  expect(detailWords({ action, detail: { from: 'active', to: 'pending_deletion' } })).toBe(
    'Active → Pending deletion',
  );
  expect(detailWords({ action, detail: { to: 'suspended' } })).toBe('Suspended');
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

test('an account reads who acted for it', () => {
  const actors = ['you', 'operator', 'system', 'visitor'].map((actor) => actorWords(actor, true));
  expect(actors).toEqual(['You', 'Operator', 'System', 'Visitor']);
});
