// Mutants of the limits of one server.

import type { Mutant } from '../mutant.ts';

export const LIMIT_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-31k',
    does: 'a fallback leaves the list of models of its key',
    edits: [
      {
        in: 'candidates',
        find: 'if (facts.allowed?.has(fallback.slug) === false) continue;',
        put: '',
      },
    ],
    tests: ['test/blackbox/key-bounds.test.ts'],
  },
  {
    id: 'S-07b',
    does: 'a claim that is ended twice gives back twice',
    edits: [
      {
        in: 'settle',
        find: 'if (this.#hasEnded) return;',
        put: 'if (this.#hasEnded && usedTokens < 0) return;',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'S-08a',
    does: 'every admitted request restarts the window',
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
        find: 'takeFrom(this.window, tokens, nowMs);',
        put: 'queueMicrotask(() => takeFrom(this.window, tokens, nowMs));',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'S-09b',
    does: 'a refusal by one limit has taken from another',
    edits: [
      {
        in: 'claim',
        find: "if (decided.kind === 'refused') return refusalOf(decided, used, { nowMs, timeMs: clock() });",
        put: `if (decided.kind === 'refused') {
      countRequest(account.window, plan, nowMs);
      return refusalOf(decided, used, { nowMs, timeMs: clock() });
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
        in: 'settle',
        find: 'this.#letGo(usedTokens - this.#tokens);',
        put: 'this.#letGo((usedTokens - this.#tokens) * 0);',
      },
    ],
    tests: ['test/limits/limits.test.ts'],
  },
  {
    id: 'T-46',
    does: 'a restart opens the caps',
    edits: [
      {
        in: 'useOf',
        find: 'use.before = before;',
        put: 'use.before = before * 0;',
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
  {
    id: 'T-161',
    does: 'the habit of a key has the burst in it that the guard is to notice',
    edits: [
      {
        in: 'habitSpan',
        find: 'nowMs - DAY_MS - (nowMs % HOUR_MS)',
        put: 'nowMs - (nowMs % HOUR_MS)',
      },
    ],
    tests: ['test/core/runaway.test.ts'],
  },
  {
    id: 'T-162',
    does: 'two leaders pause a key twice and mail its owner twice',
    edits: [
      {
        in: 'pauseRunaway',
        find: '!(await isPausable(row))',
        put: '!(await isPausable({ ...row, pausedAt: null }))',
      },
    ],
    tests: ['test/server/runaway-guard.test.ts'],
  },
  {
    id: 'T-162a',
    does: 'an owner is mailed about a pause again and again',
    edits: [{ in: 'eventOf', find: 'notExists(mails)', put: 'undefined' }],
    tests: ['test/server/runaway-guard.test.ts'],
  },
  {
    id: 'T-162b',
    does: 'a new key is guarded by no habit',
    edits: [
      {
        in: 'busiestHour',
        find: '(await hasSpent(habit.accountHours))',
        put: 'span.fromMs > span.untilMs',
      },
    ],
    tests: ['test/server/runaway-guard.test.ts'],
  },
  {
    id: 'T-162c',
    does: 'a test request of the day before is a key’s whole habit',
    edits: [{ in: 'busiestHour', find: 'span.untilMs - DAY_MS', put: 'span.untilMs' }],
    tests: ['test/server/runaway-guard.test.ts'],
  },
  {
    id: 'T-163',
    does: 'a key that was resumed is paused again',
    edits: [
      {
        in: 'isPausable',
        find: 'gt(auditEvents.at, now - GRACE_MS)',
        put: 'gt(auditEvents.at, now + GRACE_MS)',
      },
    ],
    tests: ['test/server/runaway-guard.test.ts'],
  },
  {
    id: 'T-164',
    does: 'charges that a clock dated ahead count for ten minutes each time it comes by',
    edits: [
      {
        in: 'isInWindow',
        find: 'startMs > nowMs - WINDOW_MS && startMs <= nowMs + AHEAD_MS_MAX',
        put: 'startMs > nowMs - WINDOW_MS && AHEAD_MS_MAX > 0',
      },
    ],
    tests: ['test/server/runaway-guard.test.ts'],
  },
];
