// Mutants of the limits of one server.

import type { Mutant } from '../mutant.ts';

export const LIMIT_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-07b',
    does: 'a claim that is ended twice gives back twice',
    edits: [
      {
        in: 'end',
        find: 'if (ended) return; ended = true; claims.remove(open);',
        put: 'if (ended && usedTokens < 0) return; ended = true; claims.remove(open);',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'S-08a',
    does: 'every admitted request starts the window anew',
    edits: [
      { in: 'takeFrom', find: 'window.startedAt ??= nowMs;', put: 'window.startedAt = nowMs;' },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'S-09a',
    does: 'the limits are looked at first and taken from later',
    edits: [
      {
        in: 'take',
        find: 'takeFrom(ofPlan, tokens, nowMs);',
        put: 'queueMicrotask(() => takeFrom(ofPlan, tokens, nowMs));',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'S-09b',
    does: 'a refusal by one limit has taken from another',
    edits: [
      {
        in: 'claimNow',
        find: "if (decided.kind === 'refused') return refusalOf(decided, scopes, times);",
        put: `if (decided.kind === 'refused') {
      accounts.countRequest(account, 'generate', plan, nowMs);
      return refusalOf(decided, scopes, times);
    }`,
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'T-44',
    does: 'the caps keep the estimate and never hear what was used',
    edits: [
      {
        in: 'end',
        find: 'usedTokens === undefined ? 0 : usedTokens - tokens',
        put: 'usedTokens === undefined ? 0 : (usedTokens - tokens) * 0',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'T-46',
    does: 'a restart opens the caps',
    edits: [
      {
        in: 'used',
        find: 'Math.max(0, get(first + BEFORE)) + get(first + SINCE)',
        put: 'get(first + SINCE)',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'T-48',
    does: 'a request that the balance refuses keeps its claim',
    edits: [
      {
        in: 'tryGrant',
        find: "await claim.cancel(isOver ? 'request' : undefined)",
        put: 'isOver ? claim.view : await claim.cancel()',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
];
