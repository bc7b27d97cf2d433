// References of top-ups: which account a payment in the operator's own checkout is for, and until
// when. They are signed and not stored, so they cannot be made or changed elsewhere.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { type RandomBytes, randomText } from '../core/id.ts';
import { deriveKey } from '../store/seal.ts';
import { OperationError } from './error.ts';

export type TopUps = ReturnType<typeof createTopUps>;

export type TopUpOptions = {
  readonly secret: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
};

/** Checkouts stay open for a day at most, and their reports are repeated for some days. */
const VALID_MS = 7 * 86_400_000;

const SHAPE = /^(top-up\.(\w{1,40})\.(\d{13})\.[A-Za-z0-9]{16})\.([\w-]{43})$/;

export function createTopUps({ secret, clock, randomBytes }: TopUpOptions) {
  const key = deriveKey(secret, 'tollgate top-ups: references, version 1');
  const sign = (facts: string) => createHmac('sha256', key).update(facts).digest('base64url');

  return {
    /** A new reference of an account. */
    issue(accountId: string): string {
      const facts = `top-up.${accountId}.${clock() + VALID_MS}.${randomText(16, randomBytes)}`;
      return `${facts}.${sign(facts)}`;
    },

    /** Throws `invalid_reference`. `creditId` is the id under which its credit is booked. */
    read(reference: string) {
      const [, creditId = '', accountId = '', until = '', signature = ''] =
        SHAPE.exec(reference) ?? [];
      if (timingSafeEqual(Buffer.from(signature.padEnd(43)), Buffer.from(sign(creditId)))) {
        return { creditId, accountId, isExpired: clock() >= Number(until) };
      }
      throw new OperationError(
        'invalid_reference',
        'This reference is not of this service. Send it as your checkout received it.',
      );
    },
  };
}
