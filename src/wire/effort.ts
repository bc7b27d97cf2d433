// The effort levels of all client formats, and the depth of thinking that each stands for.

import type { Effort } from '../core/effort.ts';
import type { Reasoning } from '../core/generation.ts';

export const EFFORT_REASONING: Readonly<Record<Effort, Reasoning>> = {
  none: 'off',
  minimal: 'low',
  low: 'low',
  medium: 'high',
  high: 'high',
  xhigh: 'high',
  max: 'max',
};
