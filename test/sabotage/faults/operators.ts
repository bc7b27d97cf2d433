// Faults of what operators change while a server runs: catalogs, blocks, maintenance.

import type { Fault } from '../fault.ts';

export const OPERATOR_FAULTS: readonly Fault[] = [
  {
    id: 'T-54',
    plants: 'a running server does not hear what an operator changes',
    edits: [
      {
        file: 'src/server/operator-changes.ts',
        find: 'if (news.length > 0) stale = true;',
        put: 'if (news.length < 0) stale = true;',
      },
    ],
    tests: ['test/server/operator-changes.test.ts'],
  },
  {
    id: 'T-80a',
    plants: 'a catalog file that is deleted turns a shop into the demonstration',
    edits: [
      {
        file: 'src/catalog/live.ts',
        find: "if (loaded.origin === 'built-in' || next.origin === 'file') return;",
        put: "if (loaded.origin !== 'built-in' || next.origin === 'file') return;",
      },
    ],
    tests: ['test/catalog/live.test.ts'],
  },
  {
    id: 'T-80b',
    plants: 'a catalog that is half written is read',
    edits: [
      {
        file: 'src/server/file-watch.ts',
        find: 'if (!rests || now === settled) return false;',
        put: 'if ((rests && now === settled) || now === settled) return false;',
      },
    ],
    tests: ['test/server/file-watch.test.ts'],
  },
  {
    id: 'T-80c',
    plants: 'the secrets of a catalog stay those of the start',
    edits: [
      {
        file: 'src/server/catalog-file.ts',
        find: 'const { variables } = environmentNow(context);',
        put: 'const variables = { ...environmentNow(context).variables, ...atStart };',
      },
    ],
    tests: ['test/blackbox/reload.test.ts'],
    only: 'secrets',
  },
  {
    id: 'T-80d',
    plants: 'each catalog that was ever in force is kept',
    edits: [
      {
        file: 'src/catalog/live.ts',
        find: '        loaded = next;',
        put: '        loaded = { ...next, before: loaded } as LoadedCatalog;',
      },
    ],
    tests: ['test/blackbox/reload-storm.test.ts'],
  },
  {
    id: 'T-80e',
    plants: 'a request is billed by the rate that is in force when it ends',
    edits: [
      {
        file: 'src/server/operator-changes.ts',
        find: '    current: operator.current,',
        put: `    current: () => {
      const now = operator.current();
      return { ...now, get catalog() { return live.current(); } };
    },`,
      },
      {
        file: 'src/generate/grant.ts',
        find: 'costUsd: formatUsd(settlement.debited, catalog.usdPerMillion),',
        put: 'costUsd: formatUsd(settlement.debited, call.operator.catalog.usdPerMillion),',
      },
      {
        file: 'src/generate/grant.ts',
        find: '  { catalog, model }: CheckedRequest,',
        put: '  { call, model }: CheckedRequest,',
      },
    ],
    tests: ['test/blackbox/reload.test.ts'],
    only: 'ends by the catalog that it began with',
  },
  {
    id: 'T-81a',
    plants: 'a block for a while never ends',
    edits: [
      {
        file: 'src/server/operator-changes.ts',
        find: 'stale || clock() >= operator.changesAt()',
        put: 'stale',
      },
    ],
    tests: ['test/blackbox/operators.test.ts'],
    only: 'ends by itself',
  },
  {
    id: 'T-81b',
    plants: 'a network is one bit wider than it was written',
    edits: [
      {
        file: 'src/identity/address.ts',
        find: 'if (starts.has(value >> BigInt(bits - prefix))) return true;',
        put: 'if (starts.has((value ^ 1n) >> BigInt(bits - prefix))) return true;',
      },
    ],
    tests: ['test/identity/network-laws.test.ts'],
  },
  {
    id: 'T-81c',
    plants: 'making a code is not in the audit trail',
    edits: [
      {
        file: 'src/ledger/codes.ts',
        find: "          await onChange('code.created', row);\n",
        put: '',
      },
    ],
    tests: ['test/blackbox/operators.test.ts'],
    only: 'audit trail',
  },
  {
    id: 'T-102a',
    plants: 'an upstream that is out of service is asked all the same',
    edits: [
      {
        file: 'src/core/route.ts',
        find: 'const inService = of.servedBy.filter(({ upstream }) => !isDisabled(upstream, of.slug));',
        put: 'const inService = of.servedBy.filter(() => isDisabled !== undefined);',
      },
    ],
    tests: ['test/core/route.test.ts'],
  },
  {
    id: 'T-102b',
    plants: 'a drafted price may begin in the past',
    edits: [
      {
        file: 'src/catalog/price-draft.ts',
        find: 'else if (atMs <= nowMs)',
        put: 'else if (atMs <= 0 * nowMs)',
      },
    ],
    tests: ['test/catalog/price-draft.test.ts'],
  },
  {
    id: 'T-102c',
    plants: 'publishing prices writes over what somebody else has changed in the file',
    edits: [
      {
        file: 'src/operations/publish-prices.ts',
        find: 'if (catalogDigest(found.text) !== prepared.basedOn) {',
        put: 'if (catalogDigest(prepared.text) === prepared.basedOn) {',
      },
    ],
    tests: ['test/operations/publish-prices.test.ts'],
  },
];
