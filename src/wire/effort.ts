// The words that clients of both formats use for how much a model should think, and what they mean
// here.

import type { Reasoning } from '../core/generation.ts';

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type Effort = (typeof EFFORTS)[number];

export const EFFORT_REASONING: Readonly<Record<Effort, Reasoning>> = {
  none: 'off',
  minimal: 'low',
  low: 'low',
  medium: 'high',
  high: 'high',
  xhigh: 'high',
  max: 'max',
};

export function isEffort(value: unknown): value is Effort {
  return EFFORTS.some((effort) => effort === value);
}
