// Turns a second factor on and off. The routes require the password first. Shows the secret once,
// before its first code, and the recovery codes once, after it.

import { IdentityError } from '../error.ts';
import { actorOf, type SignedIn } from '../signed-in.ts';
import type { TwoFactor } from './contract.ts';
import { mailNotice, type RealmParts, subjectOf } from './dependencies.ts';
import { wrongCode } from './entrance.ts';
import { changedMail } from './mails.ts';
import { enrolment } from './totp.ts';

export function createTwoFactor(parts: RealmParts): TwoFactor {
  const { realm, database, throttle, users, sessions, secondFactors, audit, service } = parts;

  /** Checked inside the transaction as well: another browser may turn it on. */
  async function requireOff({ userId }: SignedIn): Promise<void> {
    if ((await users.get(userId))?.twoFactorEnabled === false) return;
    throw new IdentityError('two_factor_on', 'The second factor is on already. Turn it off first.');
  }

  return {
    async startTwoFactor(who) {
      const key = await database.transaction(async () => {
        await requireOff(who);
        return secondFactors.create(who.userId);
      });
      return enrolment(key, service().name, who.email);
    },

    async confirmTwoFactor(who, code, { address }) {
      await requireOff(who);
      const entry = await throttle.enter({ realm, kind: 'code', name: who.userId, address });
      const outcome = await database.transaction(async () => {
        await requireOff(who);
        if ((await secondFactors.use(who.userId, code)) === undefined) throw wrongCode();
        await users.setTwoFactor(who.userId, true);
        const codes = await secondFactors.renewRecoveryCodes(who.userId);
        await sessions.endAll(who.userId, who.sessionId);
        await audit(subjectOf(who), 'user.two_factor_enabled', actorOf(who, address));
        return { codes, cookies: [await sessions.renew(who.sessionId)] };
      });
      await entry.succeeded();
      return outcome;
    },

    async disableTwoFactor(who, visit) {
      requireOn(who);
      const cookies = await database.transaction(async () => {
        await users.dropSecondFactor(who.userId);
        await audit(subjectOf(who), 'user.two_factor_disabled', actorOf(who, visit.address));
        return [await sessions.renew(who.sessionId)];
      });
      mailNotice(parts, who, visit, 'second factor', changedMail('second factor', realm));
      return cookies;
    },

    async renewRecoveryCodes(who, { address }) {
      requireOn(who);
      return database.transaction(async () => {
        await audit(subjectOf(who), 'user.recovery_codes_made', actorOf(who, address));
        return secondFactors.renewRecoveryCodes(who.userId);
      });
    },

    recoveryCodesLeft: async ({ userId, twoFactor }) =>
      twoFactor ? secondFactors.recoveryCodesLeft(userId) : undefined,
  };
}

function requireOn({ twoFactor }: SignedIn): void {
  if (twoFactor) return;
  throw new IdentityError('two_factor_off', 'There is no second factor to change.');
}
