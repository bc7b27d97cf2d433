// Turning a second factor on and off: a secret that an authenticator app shares with us, and
// recovery codes for when the app is lost. The routes ask for the password first. The library seals
// both and checks the codes; the secret is shown once, before one code of it was right, and the
// recovery codes once, after.

import { eq } from 'drizzle-orm';
import { createId, randomText } from '../../core/id.ts';
import { secondFactors } from '../../store/sign-in-tables.ts';
import { IdentityError } from '../error.ts';
import { actorOf, type SignedIn } from '../signed-in.ts';
import type { RealmSignIn } from './contract.ts';
import {
  ISSUER,
  passedCookies,
  refusalOfLibrary,
  shownHeaders,
  wrongCode,
} from './library-call.ts';
import { changedMail } from './mails.ts';
import { normaliseCode, type RealmParts, subjectOf } from './realm.ts';
import { sessionCookieName } from './sessions.ts';

const SECRET_LENGTH = 32;
const CODES = 10;

/** Without letters and digits that look like another. */
const CODE_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

type TwoFactor<Who extends SignedIn> = Pick<
  RealmSignIn<Who>,
  | 'startTwoFactor'
  | 'confirmTwoFactor'
  | 'disableTwoFactor'
  | 'renewRecoveryCodes'
  | 'recoveryCodesLeft'
>;

export function createTwoFactor<Who extends SignedIn>(parts: RealmParts): TwoFactor<Who> {
  const { realm, database, randomBytes, throttle, tokens, users, sessions, audit } = parts;
  const { db } = database;

  async function seal(text: string): Promise<string> {
    const { symmetricEncrypt } = await import('better-auth/crypto');
    const { secretConfig } = await (await parts.library()).$context;
    return symmetricEncrypt({ key: secretConfig, data: text });
  }

  async function makeCodes(): Promise<{ readonly codes: readonly string[]; sealed: string }> {
    const codes = Array.from({ length: CODES }, () => recoveryCode(randomBytes));
    return { codes, sealed: await seal(JSON.stringify(codes)) };
  }

  async function keepCodes(userId: string, recoveryCodes: string): Promise<void> {
    await db
      .update(secondFactors)
      .set({ recoveryCodes })
      .where(eq(secondFactors.userId, userId))
      .run();
  }

  return {
    async startTwoFactor({ userId, email, twoFactor }) {
      if (twoFactor) throw alreadyOn();
      const secret = randomText(SECRET_LENGTH, randomBytes);
      const sealed = { secret: await seal(secret), recoveryCodes: await seal('[]') };
      await database.transaction(async () => {
        if ((await users.get(userId))?.twoFactorEnabled !== false) throw alreadyOn();
        await db.delete(secondFactors).where(eq(secondFactors.userId, userId)).run();
        const id = createId('cred_', randomBytes);
        await db
          .insert(secondFactors)
          .values({ ...sealed, id, realm, userId, verified: false, failures: 0, lockedUntil: null })
          .run();
      });
      const typed = base32(new TextEncoder().encode(secret));
      const label = `${ISSUER}:${encodeURIComponent(email)}`;
      const uri = `otpauth://totp/${label}?secret=${typed}&issuer=${ISSUER}&algorithm=SHA1&digits=6&period=30`;
      return { uri, secret: typed };
    },

    async confirmTwoFactor(who, given, visit) {
      if (who.twoFactor) throw alreadyOn();
      const code = normaliseCode(given);
      const { address } = visit;
      const entry = await throttle.enter({ realm, kind: 'code', name: who.userId, address });
      const { codes, sealed } = await makeCodes();
      const before = await sessions.list(who.userId);
      const library = await parts.library();
      if (!(await tokens.claimCode(realm, who.userId, code))) throw wrongCode();
      const { headers } = await library.api
        .verifyTOTP({
          body: { code },
          headers: shownHeaders(visit, sessionCookieName(realm)),
          returnHeaders: true,
        })
        .catch(async (error: unknown) => {
          await tokens.releaseCode(who.userId, code);
          throw refusalOfLibrary(error);
        });
      await entry.succeeded();
      await database.transaction(async () => {
        await keepCodes(who.userId, sealed);
        for (const { id } of before) await sessions.end(who.userId, id);
        await audit(subjectOf(who), 'user.two_factor_enabled', actorOf(who, address));
      });
      return { codes, cookies: passedCookies(headers, realm) };
    },

    async disableTwoFactor(who, { address }) {
      if (!who.twoFactor) throw isOff();
      const cookies = await database.transaction(async () => {
        await users.dropSecondFactor(who.userId);
        await audit(subjectOf(who), 'user.two_factor_disabled', actorOf(who, address));
        return [await sessions.renew(who.sessionId)];
      });
      const words = 'The second factor of your account was turned off';
      parts.later(() => parts.mail({ to: who.email, ...changedMail(words, realm) }));
      return cookies;
    },

    async renewRecoveryCodes(who, { address }) {
      if (!who.twoFactor) throw isOff();
      const { codes, sealed } = await makeCodes();
      await database.transaction(async () => {
        await keepCodes(who.userId, sealed);
        await audit(subjectOf(who), 'user.recovery_codes_made', actorOf(who, address));
      });
      return codes;
    },

    async recoveryCodesLeft({ userId, twoFactor }) {
      if (!twoFactor) return undefined;
      const library = await parts.library();
      const { backupCodes } = await library.api.viewBackupCodes({ body: { userId } });
      return backupCodes.length;
    },
  };
}

/** Five letters, a hyphen, five letters: 49 bits, of which a guesser gets five tries. */
function recoveryCode(randomBytes: RealmParts['randomBytes']): string {
  const unbiased = 256 - (256 % CODE_LETTERS.length);
  let text = '';
  while (text.length < 10) {
    for (const byte of randomBytes(16)) {
      if (byte < unbiased && text.length < 10) text += CODE_LETTERS[byte % CODE_LETTERS.length];
    }
  }
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

/** As authenticator apps take it: upper case, without padding. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(value << (5 - bits)) & 31];
}

function alreadyOn(): IdentityError {
  return new IdentityError('two_factor_on', 'The second factor is on already. Turn it off first.');
}

function isOff(): IdentityError {
  return new IdentityError('two_factor_off', 'There is no second factor to change.');
}
