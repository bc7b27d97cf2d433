// Tool-call ids as one upstream takes them. Called by the request writers for each call and each
// result alike. It must never give two ids of one conversation the same name, nor one id two names.

import type { UpstreamProfile } from '../../core/profile.ts';

type Shape = UpstreamProfile['toolIds'];

const WORD = /^[A-Za-z0-9_-]{1,64}$/;
const NINE = /^[A-Za-z0-9]{9}$/;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * An id of the shape that an upstream demands: `word` is 1 to 64 of `A-Za-z0-9_-`, `nine` exactly 9
 * of `A-Za-z0-9`. An id that fits stays; any other becomes a digest of itself, so that a call and
 * its result agree and every turn writes the same bytes again.
 */
export function toolIdFor(shape: Shape, id: string): string {
  switch (shape) {
    case 'any':
      return id;
    case 'word':
      return WORD.test(id) ? id : `call_${digest(id, 22)}`;
    case 'nine':
      return NINE.test(id) ? id : digest(id, 9);
  }
}

/**
 * 62⁹ is some 53 bits: two of a thousand ids agree with a chance of 1 in 10¹⁰. The hash is no secret
 * one; whoever makes ids that collide only confuses their own conversation.
 */
function digest(id: string, length: number): string {
  let rest = (Bun.hash.wyhash(id, 0n) << 64n) | Bun.hash.wyhash(id, 1n);
  let text = '';
  for (; text.length < length; rest /= 62n) text += DIGITS.charAt(Number(rest % 62n));
  return text;
}
