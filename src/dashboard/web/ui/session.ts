// Who is signed in, and how one may, read once when the application starts. Signing in and out loads
// the whole page anew, so that nothing of another session is ever left in memory.

import { signal } from '@preact/signals';
import type { SessionRecord, SessionUserRecord } from '../../records/auth.ts';
import { get, post } from './api.ts';

/** `undefined` until it is known, `null` where nobody is signed in. */
export const session = signal<SessionUserRecord | null | undefined>(undefined);

/** How one signs up here, and where mail goes. */
export const house = signal<Pick<SessionRecord, 'sign_up' | 'mail'>>({
  sign_up: 'closed',
  mail: 'log',
});

/** Resolves once `session` is known. Rejects where the server does not answer. */
export async function loadSession(): Promise<void> {
  const { user, ...about } = await get<SessionRecord>('/auth/session');
  house.value = about;
  session.value = user;
}

export async function signOut(): Promise<void> {
  await post('/auth/logout');
  window.location.assign(`${APP_PREFIX}/sign-in`);
}
