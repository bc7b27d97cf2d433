// Mutants of what a request costs: prices, reservations, growing holds and endings.

import type { Mutant } from '../mutant.ts';

export const CHARGE_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-20a',
    does: 'a fallback costs what the requested model would have',
    edits: [
      {
        in: 'chargeServed',
        find: 'return smaller(own, charge(usage, requested));',
        put: 'return smaller(charge(usage, requested), charge(usage, requested));',
      },
    ],
    tests: ['test/core/price.test.ts'],
  },
  {
    id: 'T-22',
    does: 'a report of far more output than the bound is believed',
    edits: [
      {
        in: 'isTooLong',
        find: 'outputBound + OVERRUN_TOKENS',
        put: 'outputBound * OVERRUN_TOKENS',
      },
    ],
    tests: ['test/core/usage.test.ts'],
  },
  {
    id: 'T-25a',
    does: 'a total is rounded down',
    edits: [
      {
        in: 'toMicro',
        find: 'PICO_PER_MICRO / 2',
        put: '0',
      },
    ],
    tests: ['test/core/price.test.ts'],
    only: 'exact total',
  },
  {
    id: 'T-26a',
    does: 'a hold grows in memory, and the ledger hears nothing of it',
    edits: [
      {
        in: '#buy',
        find: 'const { ok, available, uncovered, budget } = await ledger.extend({ requestId, amount, excess });',
        put: `const granted: Awaited<ReturnType<typeof ledger.extend>> = {
        ok: requestId !== '',
        available: this.#held,
      };
      const { ok, available, uncovered, budget } = granted;`,
      },
    ],
    tests: ['test/generate/guard.test.ts'],
  },
  {
    id: 'T-26b',
    does: 'the next slice is bought after its tokens were passed on',
    edits: [
      {
        in: 'take',
        find: 'if (!isShort || !this.#pushIfCovered(event)) return',
        put: `if (!this.#pushIfCovered(event)) this.#meter.push(event);
      if (!isShort) return`,
      },
    ],
    tests: ['test/generate/guard.test.ts'],
  },
  {
    id: 'T-28a',
    does: 'an answer that was cut for lack of money is reported as complete',
    edits: [
      {
        in: 'decideOutcome',
        find: "outcome: 'stopped_balance', charge: reported",
        put: "outcome: 'completed', charge: reported",
      },
    ],
    tests: ['test/core/outcome.test.ts'],
  },
  {
    id: 'T-29a',
    does: 'a client that leaves pays nothing',
    edits: [
      {
        in: 'chargeLeft',
        find: "return worked ? 'counted' : chargeDelivered(output);",
        put: "return worked ? 'nothing' : chargeDelivered(output);",
      },
    ],
    tests: ['test/core/outcome.test.ts'],
  },
];
