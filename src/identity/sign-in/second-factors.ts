// Stores second factors: a secret shared with an authenticator app, and recovery codes. Each code
// is accepted once. Call its writers inside a transaction.

import { eq } from 'drizzle-orm';
import { type RandomBytes, randomText } from '../../core/id.ts';
import { createSealer, deriveKey } from '../../store/seal.ts';
import { secondFactors } from '../../store/sign-in-tables.ts';
import type { Basics } from '../audit.ts';
import { keyedDigest } from './digest.ts';
import { acceptedStep } from './totp.ts';

const SECRET_LENGTH = 32;
const RECOVERY_CODES = 10;

/** Without letters and digits that look alike. */
const CODE_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

export type SecondFactors = ReturnType<typeof createSecondFactors>;

export function createSecondFactors(dependencies: Basics & { readonly secret: string }) {
  const { database, clock, randomBytes, secret } = dependencies;
  const { db } = database;
  const sealer = createSealer(deriveKey(secret, 'second factor'), randomBytes);

  const recoveryDigest = (userId: string, code: string): string =>
    keyedDigest(secret, `recovery ${userId} ${code}`);

  const find = (userId: string) =>
    db.select().from(secondFactors).where(eq(secondFactors.userId, userId)).get();

  const change = (userId: string, changes: Partial<typeof secondFactors.$inferInsert>) =>
    db.update(secondFactors).set(changes).where(eq(secondFactors.userId, userId)).run();

  return {
    /** A new key; replaces one that was never confirmed. */
    async create(userId: string): Promise<Uint8Array> {
      const text = randomText(SECRET_LENGTH, randomBytes);
      const facts = {
        secret: sealer.seal(text, Buffer.from(userId)),
        lastStep: 0,
        recoveryCodes: '[]',
      };
      await db
        .insert(secondFactors)
        .values({ userId, ...facts })
        .onConflictDoUpdate({ target: secondFactors.userId, set: facts })
        .run();
      return Buffer.from(text);
    },

    /** Accepts a code and uses it up; `undefined` where it is wrong or was already used. */
    async use(userId: string, given: string): Promise<'code' | 'recovery code' | undefined> {
      const code = given.replace(/\s+/g, '').toLowerCase();
      const row = await find(userId);
      if (row === undefined) return undefined;
      if (/^\d{6}$/.test(code)) {
        const key = sealer.open(row.secret, Buffer.from(userId));
        if (key === undefined) return undefined;
        const lastStep = acceptedStep(code, Buffer.from(key), clock(), row.lastStep);
        if (lastStep === undefined) return undefined;
        await change(userId, { lastStep });
        return 'code';
      }
      const digests: readonly string[] = JSON.parse(row.recoveryCodes);
      const digest = recoveryDigest(userId, code);
      if (!digests.includes(digest)) return undefined;
      const recoveryCodes = JSON.stringify(digests.filter((each) => each !== digest));
      await change(userId, { recoveryCodes });
      return 'recovery code';
    },

    /** Replaces the recovery codes; the only time that the new ones are readable. */
    async renewRecoveryCodes(userId: string): Promise<readonly string[]> {
      const codes = Array.from({ length: RECOVERY_CODES }, () => recoveryCode(randomBytes));
      const digests = codes.map((code) => recoveryDigest(userId, code));
      await change(userId, { recoveryCodes: JSON.stringify(digests) });
      return codes;
    },

    async recoveryCodesLeft(userId: string): Promise<number> {
      const row = await find(userId);
      return row === undefined ? 0 : JSON.parse(row.recoveryCodes).length;
    },
  };
}

/** Five letters, a hyphen, five letters: 49 bits, against five tries. */
function recoveryCode(randomBytes: RandomBytes): string {
  const text = randomText(10, randomBytes, CODE_LETTERS);
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}
