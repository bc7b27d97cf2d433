// Who is signed in, in both applications: the first thing that a page asks, visitors' pages too.

import { isoTime } from '../../core/calendar.ts';
import type { SignedIn } from '../../identity/signed-in.ts';
import { publicRoute, type Route } from '../edge/route.ts';
import type { SessionAccountRecord, SessionRecord, SessionUserRecord } from '../records/auth.ts';
import { type AuthDependencies, provenUntil } from './parts.ts';

export function whoRoutes<Who extends SignedIn>(
  { signIn, realm, mailMode }: AuthDependencies<Who>,
  name: Who['realm'],
  accountOf: (who: Who) => Promise<SessionAccountRecord | null>,
): readonly Route<undefined>[] {
  async function userRecord(who: Who): Promise<SessionUserRecord> {
    const session = (await realm.sessions(who)).find(({ id }) => id === who.sessionId);
    return {
      email: who.email,
      session_id: who.sessionId,
      two_factor: who.twoFactor,
      recovery_codes_left: (await realm.recoveryCodesLeft(who)) ?? null,
      proven_until: provenUntil(who.provenAt),
      expires_at: isoTime(session?.expiresAt ?? who.provenAt),
      account: await accountOf(who),
    };
  }

  return [
    publicRoute({
      method: 'GET',
      path: '/auth/session',
      async handle({ request }): Promise<SessionRecord> {
        const who = await realm.read(request.headers);
        return {
          object: 'session',
          realm: name,
          sign_up: name === 'operator' ? 'closed' : signIn.mode,
          mail: mailMode,
          user: who === undefined ? null : await userRecord(who),
        };
      },
    }),
  ];
}
