// Mutants of keys, addresses, logs and the console.

import type { Mutant } from '../mutant.ts';

export const SECURITY_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-12',
    does: 'what was read of a key is believed for ever',
    edits: [
      {
        in: 'isFresh',
        find: 'return age >= 0 && age < CACHE_TIME_MS;',
        put: 'return age >= 0 && CACHE_TIME_MS > 0;',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'S-13a',
    does: 'x-api-key passes the blocklist by',
    edits: [
      {
        in: 'createAccess',
        find: 'return facts instanceof Promise',
        put: 'if (authorization === null) return facts; return facts instanceof Promise',
      },
    ],
    tests: ['test/identity/access.test.ts'],
  },
  {
    id: 'S-15a',
    does: 'an internal error reaches the caller in its own words',
    edits: [
      {
        in: 'refusalOf',
        find: "return new GatewayError('internal_error');",
        put: "return new GatewayError('internal_error', { message: String(thrown) });",
      },
    ],
    tests: ['test/http/respond.test.ts'],
  },
  {
    id: 'S-16b',
    does: 'an error is logged with everything that it carries',
    edits: [
      {
        in: 'error',
        find: 'inOrder().error({ error: errorWords(error) }, message);',
        put: 'inOrder().error({ err: error }, message);',
      },
    ],
    tests: ['test/observe/log.test.ts'],
  },
  {
    id: 'S-18',
    does: 'the leftmost forwarded address is believed',
    edits: [
      {
        in: 'hop',
        find: 'xForwardedFor.slice(comma + 1, end)',
        put: "xForwardedFor.split(',')[0] ?? ''",
      },
    ],
    tests: ['test/identity/address.test.ts'],
  },
  {
    id: 'T-52',
    does: 'a revoked key is as good as before',
    edits: [
      {
        in: 'read',
        find: 'if (row === undefined || row.revokedAt !== null) {',
        put: 'if (row === undefined) {',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'T-53',
    does: 'a key that is remembered outlives its expiry',
    edits: [
      {
        in: 'authenticate',
        find: 'return requireValid(entry, now);',
        put: 'return requireValid(entry, entry.loadedAt);',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'S-26e',
    does: 'a webhook follows redirects',
    edits: [{ in: 'post', find: "redirect: 'manual'", put: "redirect: 'follow'" }],
    tests: ['test/observe/webhook.test.ts'],
  },
  {
    id: 'T-110a',
    does: 'money moves without an event in the audit trail',
    edits: [
      {
        in: 'move',
        find: 'if (movement.by === undefined) return;',
        put: "if (movement.by?.actor !== '') return;",
      },
    ],
    tests: ['test/operations/movements.test.ts', 'test/dashboard/operator/money.test.ts'],
  },
  {
    id: 'T-110c',
    does: 'money can be moved in any open console session',
    edits: [
      {
        in: 'movementRoutes',
        find: `stepUpRoute({
      method: 'POST'`,
        put: `(sessionRoute ?? stepUpRoute)({
      method: 'POST'`,
      },
    ],
    tests: ['test/dashboard/operator/access.test.ts'],
  },
  {
    id: 'T-100a',
    does: 'a redirect of an upstream is followed, with our credential',
    edits: [{ in: 'init', find: "redirect: 'manual'", put: "redirect: 'follow'" }],
    tests: ['test/blackbox/failover/matrix.test.ts'],
    only: 'redirect-307',
  },
  {
    id: 'F-01a',
    does: 'the console sends a literal key of the catalog file to another address',
    edits: [
      {
        in: 'filledText',
        find: 'if (secret?.place === placeOf(document, path) && range !== undefined) {',
        put: 'if (secret !== undefined && range !== undefined) {',
      },
    ],
    tests: ['test/dashboard/operator/catalog-text.test.ts'],
  },
  {
    id: 'F-01b',
    does: 'the console fills a variable into text that customers see',
    edits: [
      {
        in: 'secretProblems',
        find: 'return names.length === 0',
        put: 'return names.length >= 0',
      },
    ],
    tests: ['test/dashboard/operator/catalog-text.test.ts'],
  },
  {
    id: 'F-01c',
    does: 'the difference of the catalog file shows its keys',
    edits: [
      {
        in: 'checkText',
        find: 'textDifference(redacted(before), redacted(hiddenText(filled.text)))',
        put: 'textDifference(redacted(before) && found.text, filled.text)',
      },
    ],
    tests: ['test/dashboard/operator/catalog-text.test.ts'],
  },
];
