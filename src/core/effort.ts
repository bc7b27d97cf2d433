// The words for the depth of thinking that a model accepts, as the words of a profile. A request's
// depth takes the nearest lower word of the model, else its lowest, and is never an error.

import type { EffortWords } from './profile.ts';

/** All words of the clients' formats, in ascending order. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

export function isEffort(value: unknown): value is Effort {
  return EFFORTS.some((effort) => effort === value);
}

/**
 * The words of a model that accepts exactly these. Without `none`, off becomes the lowest word:
 * thinking cannot be turned off for such a model.
 */
export function wordsOf(accepted: readonly Effort[]): EffortWords {
  const known = EFFORTS.filter((word) => accepted.includes(word));
  const thinking = known.filter((word) => word !== 'none');
  const [lowest = ''] = thinking;
  const at = (wanted: Effort): string =>
    thinking.findLast((word) => EFFORTS.indexOf(word) <= EFFORTS.indexOf(wanted)) ?? lowest;
  return {
    off: known.includes('none') ? 'none' : lowest,
    low: at('low'),
    high: at('high'),
    max: at('max'),
  };
}

/** The fields for a model whose thinking is set by one of these efforts alone. */
export function byEffort(...accepted: readonly Effort[]) {
  return {
    reasoningSwitch: 'effort',
    effortWords: wordsOf(accepted),
    thinkingOff: accepted.includes('none') ? 'send' : 'lowest',
  } as const;
}
