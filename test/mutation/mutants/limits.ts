// Mutants of the limits of one server.

import type { Mutant } from '../mutant.ts';

export const LIMIT_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-07b',
    does: 'a claim that is ended twice gives back twice',
    edits: [
      {
        in: 'end',
        find: 'if (ended) return false;',
        put: 'if (ended && usedTokens < 0) return false;',
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
        in: 'admit',
        find: 'for (const window of windows) takeFrom(window, tokens, nowMs);',
        put: `queueMicrotask(() => {
      for (const window of windows) takeFrom(window, tokens, nowMs);
    });`,
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'S-09b',
    does: 'a refusal by one limit has taken from another',
    edits: [
      {
        in: 'decideNow',
        find: "if (decided.kind === 'refused') {",
        put: `if (decided.kind === 'refused') {
      takeFrom(state.plan, 0, nowMs);`,
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
        find: 'period.since += usedTokens - tokens;',
        put: 'period.since += (usedTokens - tokens) * 0;',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'T-46',
    does: 'a restart opens the caps',
    edits: [{ in: 'usedIn', find: 'return before + since;', put: 'return before * 0 + since;' }],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'T-48',
    does: 'a request that the balance refuses keeps its claim',
    edits: [
      {
        in: 'limits',
        find: "const limits = await claim.cancel(isOver ? 'request' : undefined);",
        put: 'const limits = isOver ? claim.view : await claim.cancel();',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
];
