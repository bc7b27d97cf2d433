// The faults of a vendor that are none of the customer's: our key, our credit, our rate, its outage.

import type { Row } from './rows.ts';

type Fault = {
  /** Names it at the stand-ins. */
  readonly word: string;
  readonly name: string;
  /** Whether it refuses our credential, which the operator must hear about. */
  readonly ours: boolean;
};

export const FAULTS: readonly Fault[] = [
  { word: '401', name: 'wrong key', ours: true },
  { word: '402', name: 'no credit', ours: true },
  { word: '429', name: 'our rate', ours: false },
  { word: '500', name: 'outage', ours: false },
];

/** The slug of the model whose upstream has the fault. */
export function faultySlug({ upstream }: Row, word: string): string {
  return `${upstream}-fault-${word}`;
}
