// The outcome policy: every cause in every circumstance has one outcome and one charging rule.

import { expect, test } from 'bun:test';
import type { Outcome } from '../../src/core/generation.ts';
import {
  type ChargeRule,
  decideOutcome,
  type EndCause,
  type EndFacts,
} from '../../src/core/outcome.ts';

const OUTPUTS = ['none', 'hidden', 'visible'] as const;

type Row = {
  readonly cause: EndCause;
  readonly outcome: Outcome;
  /** For `OUTPUTS`, where the upstream has reported no usage. */
  readonly unreported: readonly [ChargeRule, ChargeRule, ChargeRule];
  /** For `OUTPUTS`, where it has. */
  readonly reported: readonly [ChargeRule, ChargeRule, ChargeRule];
};

const TABLE: readonly Row[] = [
  {
    // An upstream that ends with a reason has answered, also with nothing.
    cause: 'finished',
    outcome: 'completed',
    unreported: ['reported', 'reported', 'reported'],
    reported: ['reported', 'reported', 'reported'],
  },
  {
    cause: 'balance',
    // The report is read only where it alone shows hidden thinking.
    outcome: 'stopped_balance',
    unreported: ['counted', 'counted', 'counted'],
    reported: ['reported', 'reported', 'reported'],
  },
  {
    // Before the first token the upstream has read the prompt.
    cause: 'client',
    outcome: 'client_cancelled',
    unreported: ['counted', 'counted', 'counted'],
    reported: ['reported', 'reported', 'reported'],
  },
  {
    cause: 'upstream',
    outcome: 'upstream_failed',
    unreported: ['nothing', 'nothing', 'delivered'],
    reported: ['nothing', 'nothing', 'delivered'],
  },
  {
    cause: 'gateway',
    outcome: 'gateway_failed',
    unreported: ['nothing', 'nothing', 'delivered'],
    reported: ['nothing', 'nothing', 'delivered'],
  },
];

test.each(TABLE)('$cause is $outcome', ({ cause, outcome, unreported, reported }) => {
  OUTPUTS.forEach((output, index) => {
    const facts: EndFacts = {
      ...{ cause, output, reported: false, worked: true, silent: false, lengthOfBalance: false },
    };
    expect([output, decideOutcome(facts)]).toEqual([
      output,
      { outcome, charge: unreported[index] ?? 'nothing' },
    ]);
    expect([output, decideOutcome({ ...facts, reported: true })]).toEqual([
      output,
      { outcome, charge: reported[index] ?? 'nothing' },
    ]);
  });
});

test('a client that left pays what one that stayed would pay for an upstream that failed', () => {
  const facts = { reported: false, worked: false, silent: false, lengthOfBalance: false } as const;
  for (const output of OUTPUTS) {
    const { charge } = decideOutcome({ ...facts, output, cause: 'client' });
    expect(charge).toBe(decideOutcome({ ...facts, output, cause: 'upstream' }).charge);
  }
});

test('a length that the balance had set is the balance, where the upstream came to it', () => {
  const facts = {
    output: 'visible',
    reported: true,
    worked: true,
    silent: false,
    lengthOfBalance: true,
  } as const;
  expect(decideOutcome({ ...facts, cause: 'finished' })).toEqual({
    outcome: 'stopped_balance',
    charge: 'reported',
  });
  for (const cause of ['client', 'upstream', 'gateway'] as const) {
    expect(decideOutcome({ ...facts, cause })).toEqual(
      decideOutcome({ ...facts, cause, lengthOfBalance: false }),
    );
  }
});
