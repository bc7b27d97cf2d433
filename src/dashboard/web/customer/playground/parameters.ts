// The parameters of both formats with their limits, which are shown and checked before a request is
// sent. Pure.

import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import type { Format, NumberName } from './request.ts';

export type NumberLimits = {
  readonly name: NumberName;
  readonly label: string;
  readonly min: number;
  readonly max: number;
  /** `min` itself is not allowed. */
  readonly isAbove?: boolean;
  readonly step: number;
};

export const STOP_MAX = 16;
export const USER_MAX = 256;

/** The numbers of a format, in the order of the form. */
export function numbersOf(format: Format, maxOutput: number): readonly NumberLimits[] {
  const isChat = format === 'chat';
  const common: readonly NumberLimits[] = [
    { name: 'temperature', label: t('Temperature'), min: 0, max: isChat ? 2 : 1, step: 0.1 },
    { name: 'topP', label: t('Top P'), min: 0, isAbove: true, max: 1, step: 0.05 },
    { name: 'maxTokens', label: t('Max tokens'), min: 1, max: maxOutput, step: 1 },
  ];
  const penalty = { min: -2, max: 2, step: 0.1 };
  return isChat
    ? [
        ...common,
        { name: 'frequencyPenalty', label: t('Frequency penalty'), ...penalty },
        { name: 'presencePenalty', label: t('Presence penalty'), ...penalty },
      ]
    : [
        ...common,
        { name: 'thinkingBudget', label: t('Thinking budget'), min: 1, max: maxOutput, step: 1 },
      ];
}

/** Undefined for blank text, which leaves the choice to the model. */
export function readNumber(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text);
}

/** The reason why a number cannot be sent. */
export function numberProblem(text: string, limits: NumberLimits): string | undefined {
  const value = readNumber(text);
  if (value === undefined) return undefined;
  const { min, max, isAbove, step } = limits;
  const isWithin = value <= max && (isAbove ? value > min : value >= min);
  const isWhole = step !== 1 || Number.isInteger(value);
  if (Number.isFinite(value) && isWithin && isWhole) return undefined;
  const range = rangeOf(limits);
  return step === 1
    ? t('Enter a whole number: {range}', { range })
    : t('Enter a number: {range}', { range });
}

/** The limits in words. */
export function rangeOf({ min, max, isAbove }: NumberLimits): string {
  const values = { min: String(min), max: formatCount(max) };
  return isAbove ? t('above {min}, up to {max}', values) : t('{min} to {max}', values);
}

/** One sequence a line; blank lines are left out. */
export function readStop(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
