// Arithmetic of prices: exact integers of 10⁻¹² service token, rounded once to an amount.

import { MICRO_DECIMALS, type Micro, micro, PICO_DECIMALS, type Pico } from './money.ts';

/** A factor of one: factors count ten-thousandths. */
export const FACTOR_ONE = 10_000;
export const FACTOR_DECIMALS = 4;

export const PICO_PER_MICRO = 10 ** (PICO_DECIMALS - MICRO_DECIMALS);

/** An exact integer: a number up to 2⁵³, which saves allocating a bigint, and a bigint beyond. */
export type Exact = number | bigint;

export function product(tokens: number, price: Micro | Pico): Exact {
  // The product is inexact only beyond 2⁵³, or zero.
  const near = tokens * Number(price);
  return Number.isSafeInteger(near) ? near : BigInt(tokens) * price;
}

export function plus(a: Exact, b: Exact): Exact {
  const near = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN;
  return Number.isSafeInteger(near) ? near : BigInt(a) + BigInt(b);
}

/** The whole part of a quotient of positive integers, as a number. */
export function quotient(total: Exact, price: Pico): number {
  const divisor = Number(price);
  if (typeof total === 'bigint' || !Number.isSafeInteger(divisor)) {
    return Number(BigInt(total) / price);
  }
  return wholePart(total, divisor);
}

/** Division of two numbers would round, so the remainder is subtracted first. */
function wholePart(dividend: number, divisor: number): number {
  return (dividend - (dividend % divisor)) / divisor;
}

/** Multiplies by a factor in ten-thousandths and rounds once. */
export function toMicro(total: Exact, rounding: 'half up' | 'up', factor = FACTOR_ONE): Micro {
  if (factor !== FACTOR_ONE) {
    const unit = BigInt(PICO_PER_MICRO * FACTOR_ONE);
    const raise = rounding === 'half up' ? unit / 2n : unit - 1n;
    return micro((BigInt(total) * BigInt(factor) + raise) / unit);
  }
  // Added before the division truncates, so it sets the rounding.
  const raised = plus(total, rounding === 'half up' ? PICO_PER_MICRO / 2 : PICO_PER_MICRO - 1);
  if (typeof raised === 'bigint') return micro(raised / BigInt(PICO_PER_MICRO));
  return micro(BigInt(wholePart(raised, PICO_PER_MICRO)));
}
