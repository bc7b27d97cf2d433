// Turning the second factor on and off, in both applications; each step needs the password anew.

import type { SignedIn } from '../../identity/signed-in.ts';
import { type Route, stepUpRoute } from '../edge/route.ts';
import type { RecoveryCodesRecord, TwoFactorStartRecord } from '../records/auth.ts';
import { CODE } from './entrance.ts';
import { type AuthDependencies, EVERY_STANDING, visitOf, withCookies } from './parts.ts';

export function twoFactorRoutes<Who extends SignedIn>({
  realm,
}: AuthDependencies<Who>): readonly Route<Who>[] {
  return [
    stepUpRoute<Who>({
      method: 'POST',
      path: '/auth/two-factor',
      standings: EVERY_STANDING,
      handle: async ({ who }): Promise<TwoFactorStartRecord> => ({
        object: 'two_factor_start',
        ...(await realm.startTwoFactor(who)),
      }),
    }),
    stepUpRoute<Who, { code: typeof CODE }>({
      method: 'POST',
      path: '/auth/two-factor/confirm',
      standings: EVERY_STANDING,
      body: { code: CODE },
      async handle(call) {
        const { codes, cookies } = await realm.confirmTwoFactor(
          call.who,
          call.body.code,
          visitOf(call),
        );
        return withCookies(cookies, codesRecord(codes));
      },
    }),
    stepUpRoute<Who>({
      method: 'DELETE',
      path: '/auth/two-factor',
      standings: EVERY_STANDING,
      handle: async (call) => withCookies(await realm.disableTwoFactor(call.who, visitOf(call))),
    }),
    stepUpRoute<Who>({
      method: 'POST',
      path: '/auth/two-factor/recovery-codes',
      standings: EVERY_STANDING,
      handle: async (call) => codesRecord(await realm.renewRecoveryCodes(call.who, visitOf(call))),
    }),
  ];
}

function codesRecord(codes: readonly string[]): RecoveryCodesRecord {
  return { object: 'recovery_codes', codes };
}
