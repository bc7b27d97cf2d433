// The effort levels of both client formats, and the depth of thinking that each stands for.

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
