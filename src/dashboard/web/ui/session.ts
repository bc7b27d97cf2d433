// The session of the user and the sign-in options, read once at start. Sign-in and sign-out reload
// the page, so that nothing of another session stays in memory.

import { signal } from '@preact/signals';
import type { SessionRecord, SessionUserRecord } from '../../records/auth.ts';
import { get, post } from './api.ts';

/** `undefined` until loaded, `null` when signed out. */
export const session = signal<SessionUserRecord | null | undefined>(undefined);

/** How sign-up works on this server, and where its mail goes. */
export const house = signal<Pick<SessionRecord, 'sign_up' | 'mail'>>({
  sign_up: 'closed',
  mail: 'log',
});

/** Resolves once `session` is known. Rejects if the server does not respond. */
export async function loadSession(): Promise<void> {
  const { user, ...about } = await get<SessionRecord>('/auth/session');
  house.value = about;
  session.value = user;
}

export async function signOut(): Promise<void> {
  await post('/auth/logout');
  window.location.assign(`${APP_PREFIX}/sign-in`);
}
