// The customer's audit events as sentences.

import '../../support/english.ts';
import { expect, test } from 'bun:test';
import { auditWords } from '../../../src/dashboard/web/customer/audit-labels.ts';

test.each([
  [
    'api_key.created',
    { masked: 'sk-a…z', rotated_from: 'key_1' },
    'API key sk-a…z created by rotation',
  ],
  ['api_key.created', { masked: 'sk-a…z', rotated_from: null }, 'API key sk-a…z created'],
  [
    'api_key.revoked',
    { masked: 'sk-a…z', reason: 'rotated' },
    'API key sk-a…z revoked by rotation',
  ],
  [
    'api_key.revoked',
    { masked: 'sk-a…z', reason: 'leak_report' },
    'API key sk-a…z revoked (reported as leaked)',
  ],
  ['api_key.renamed', { masked: 'sk-a…z', to: 'ci' }, 'API key sk-a…z renamed to “ci”'],
  ['api_key.renamed', { masked: 'sk-a…z', to: null }, 'Name of API key sk-a…z removed'],
  [
    'api_key.replaced',
    { masked: 'sk-a…z', works_until: 'an instant' },
    'API key sk-a…z rotated; it works until an instant',
  ],
  ['account.standing_changed', { to: 'active' }, 'Account activated'],
  ['money.credited', { amount: '1234512.5' }, 'Balance added: $1.2345125'],
  ['user.signed_in', { with: 'password and code' }, 'Signed in with password and code'],
  ['user.sessions_ended', { ended: 3 }, '3 other sessions signed out'],
  ['user.sessions_ended', { ended: 1 }, '1 other session signed out'],
  ['two_factor.turned_on', {}, 'Two factor: turned on'],
])('%s with %j is "%s"', (action, detail, sentence) => {
  expect(auditWords({ action, detail })).toBe(sentence);
});
