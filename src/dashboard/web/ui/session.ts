// Who is signed in, read once when the application starts. Signing in and out loads the whole page
// anew, so that nothing of another session is ever left in memory.

import { signal } from '@preact/signals';
import { ApiError, get, post } from './api.ts';

/** What both applications know of who is signed in. */
export type SessionView = {
  readonly email: string;
};

/** `undefined` until it is known, `null` where nobody is signed in. */
export const session = signal<SessionView | null | undefined>(undefined);

/** Resolves once `session` is known. Rejects where the server does not answer. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await get<SessionView>('/auth/session');
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    session.value = null;
  }
}

export async function signOut(): Promise<void> {
  await post('/auth/sign-out');
  window.location.assign(`${APP_PREFIX}/sign-in`);
}
