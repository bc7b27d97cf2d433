// Faults of keys, blocks, addresses, and of what may be said about a caller.

import type { Fault } from '../fault.ts';

export const KEYS: readonly Fault[] = [
  {
    id: 'S-11',
    plants: 'keys are remembered by their beginning',
    edits: [
      {
        file: 'src/identity/authenticate.ts',
        find: 'const digest = digestKey(presented.key);',
        put: 'const whole = digestKey(presented.key);\n      const digest = presented.key.slice(0, 12);',
      },
      {
        file: 'src/identity/authenticate.ts',
        find: 'entry = await load(digest, now);',
        put: 'entry = await load(digest, whole, now);',
      },
      {
        file: 'src/identity/authenticate.ts',
        find: 'function load(digest: string, now: number): Promise<Entry> {',
        put: 'function load(digest: string, whole: string, now: number): Promise<Entry> {',
      },
      {
        file: 'src/identity/authenticate.ts',
        find: 'const entry = read(digest, now)',
        put: 'const entry = read(digest, whole, now)',
      },
      {
        file: 'src/identity/authenticate.ts',
        find: 'function read(digest: string, now: number): Promise<Entry> {',
        put: 'function read(digest: string, whole: string, now: number): Promise<Entry> {',
      },
      {
        file: 'src/identity/authenticate.ts',
        find: 'const row = await query.get({ digest });',
        put: 'const row = await query.get({ digest: whole });',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'S-12',
    plants: 'what was read of a key is believed for ever',
    edits: [
      {
        file: 'src/identity/authenticate.ts',
        find: 'return age >= 0 && age < CACHE_TIME_MS;',
        put: 'return age >= 0 && CACHE_TIME_MS > 0;',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'S-13a',
    plants: 'x-api-key passes the blocklist by',
    edits: [
      {
        file: 'src/identity/access.ts',
        find: 'requireStanding(facts, operator, address);',
        put: 'if (authorization !== null) requireStanding(facts, operator, address);',
      },
    ],
    tests: ['test/identity/access.test.ts'],
  },
  {
    id: 'S-13b',
    plants: 'Authorization passes the block of a key by',
    edits: [
      {
        file: 'src/identity/access.ts',
        find: 'requireStanding(facts, operator, address);',
        put: "requireStanding(xApiKey === null ? { ...facts, keyId: '' } : facts, operator, address);",
      },
    ],
    tests: ['test/identity/access.test.ts'],
  },
  {
    id: 'S-15a',
    plants: 'an internal error is told to the caller in its own words',
    edits: [
      {
        file: 'src/http/respond.ts',
        find: "error = new GatewayError('internal_error');",
        put: "error = new GatewayError('internal_error', { message: String(options.error) });",
      },
    ],
    tests: ['test/http/respond.test.ts'],
  },
  {
    id: 'S-15b',
    plants: 'what an upstream answered is told to the caller',
    edits: [
      {
        file: 'src/wire/upstream/failure.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: 'detail: `the upstream answered with status ${status}`,',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'detail: `the upstream answered with status ${status}: ${body}`,',
      },
      {
        file: 'src/core/failure.ts',
        find: "...(tokensDebited === '0' ? {} : { message: chargedAllTheSame(tokensDebited) }),",
        put: "message: tokensDebited === '0' ? failure.detail : chargedAllTheSame(tokensDebited),",
      },
    ],
    tests: ['test/blackbox/upstream-failures.test.ts'],
  },
  {
    id: 'S-15c',
    plants: 'a refusal repeats what the caller sent',
    edits: [
      {
        file: 'src/core/admit.ts',
        find: "throw new GatewayError('model_not_found', { param: 'model' });",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: "throw new GatewayError('model_not_found', { param: 'model', message: `There is no ${slugOrAlias}.` });",
      },
    ],
    tests: ['test/blackbox/hostile.test.ts', 'test/core/admit.test.ts'],
  },
  {
    id: 'S-16a',
    plants: 'the words of an upstream are kept with the attempt',
    edits: [
      {
        file: 'src/wire/upstream/failure.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: 'detail: `the upstream answered with status ${status}`,',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'detail: `the upstream answered with status ${status}: ${body}`,',
      },
    ],
    tests: ['test/wire/upstream/failure.test.ts'],
  },
  {
    id: 'S-16b',
    plants: 'an error is logged with everything that it carries',
    edits: [
      {
        file: 'src/observe/log.ts',
        find: 'logger.error({ error: errorWords(error) }, message);',
        put: 'logger.error({ err: error }, message);',
      },
    ],
    tests: ['test/observe/log.test.ts'],
  },
  {
    id: 'S-18',
    plants: 'the leftmost forwarded address is believed',
    edits: [
      {
        file: 'src/identity/address.ts',
        find: 'xForwardedFor.slice(comma + 1, end)',
        put: "xForwardedFor.split(',')[0] ?? ''",
      },
    ],
    tests: ['test/identity/address.test.ts'],
  },
  {
    id: 'T-51',
    plants: 'forwarded addresses are believed of any peer',
    edits: [
      {
        file: 'src/identity/address.ts',
        find: 'end >= 0 && trusted.contains(address)',
        put: 'end >= 0 && (hops === 0 || trusted.contains(address))',
      },
    ],
    tests: ['test/identity/address.test.ts'],
  },
  {
    id: 'T-52',
    plants: 'a revoked key is as good as before',
    edits: [
      {
        file: 'src/identity/authenticate.ts',
        find: 'if (row === undefined || row.revokedAt !== null) {',
        put: 'if (row === undefined) {',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'T-53',
    plants: 'a key that is remembered outlives its expiry',
    edits: [
      {
        file: 'src/identity/authenticate.ts',
        find: 'entry.facts === undefined || entry.expiresAt <= now',
        put: 'entry.facts === undefined || entry.expiresAt <= entry.loadedAt',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'S-26a',
    plants: 'the message of every error is logged',
    edits: [
      {
        file: 'src/observe/error-text.ts',
        find: 'PLAIN.has(name) || ABOUT_CODE.test(message)',
        put: "message !== ''",
      },
    ],
    tests: ['test/observe/error-text.test.ts'],
  },
  {
    id: 'S-26b',
    plants: 'whatever stands in the place of a name is logged',
    edits: [
      {
        file: 'src/observe/request-line.ts',
        find: "return NAME.test(text) ? text : '?';",
        put: "return text === '' ? '?' : text;",
      },
    ],
    tests: ['test/observe/request-line.test.ts'],
  },
  {
    id: 'S-26c',
    plants: 'a proxy on the same machine opens the metrics to the world',
    edits: [
      {
        file: 'src/http/operator-access.ts',
        find: '!PROXY_HEADERS.some((name) => headers.has(name))',
        put: 'PROXY_HEADERS.length > 0',
      },
    ],
    tests: ['test/http/operator-access.test.ts'],
  },
  {
    id: 'S-26d',
    plants: 'a metric is labelled with the account',
    edits: [
      {
        file: 'src/observe/metrics.ts',
        find: 'const model = summary.model ?? UNKNOWN;',
        put: 'const model = summary.accountId ?? summary.model ?? UNKNOWN;',
      },
    ],
    tests: ['test/observe/metrics.test.ts'],
  },
  {
    id: 'S-26e',
    plants: 'a webhook follows redirects',
    edits: [
      {
        file: 'src/observe/webhook.ts',
        find: "redirect: 'manual',",
        put: "redirect: 'follow',",
      },
    ],
    tests: ['test/observe/webhook.test.ts'],
  },
];
