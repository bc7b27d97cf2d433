// Where somebody is signed in, and ending that, in both applications.

import { isoTime } from '../../core/calendar.ts';
import type { SignedIn } from '../../identity/signed-in.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type { SessionListRecord } from '../records/auth.ts';
import { type AuthDependencies, EVERY_STANDING, visitOf } from './parts.ts';

export function sessionRoutes<Who extends SignedIn>({
  realm,
}: AuthDependencies<Who>): readonly Route<Who>[] {
  return [
    sessionRoute<Who>({
      method: 'GET',
      path: '/auth/sessions',
      standings: EVERY_STANDING,
      handle: async ({ who }): Promise<SessionListRecord> => ({
        object: 'list',
        data: (await realm.sessions(who)).map((row) => ({
          id: row.id,
          object: 'listed_session',
          current: row.id === who.sessionId,
          created_at: isoTime(row.createdAt),
          last_seen_at: isoTime(row.lastSeenAt),
          expires_at: isoTime(row.expiresAt),
          address: row.address,
          user_agent: row.userAgent,
        })),
      }),
    }),
    sessionRoute<Who>({
      method: 'DELETE',
      path: '/auth/sessions/:id',
      standings: EVERY_STANDING,
      handle: (call) => realm.endSession(call.who, call.param('id'), visitOf(call)),
    }),
    sessionRoute<Who>({
      method: 'DELETE',
      path: '/auth/sessions',
      standings: EVERY_STANDING,
      handle: (call) => realm.endOtherSessions(call.who, visitOf(call)),
    }),
  ];
}
