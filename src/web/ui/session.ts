// The session of the user and the sign-in options, read once at start. Sign-in and sign-out reload
// the page, so that nothing of another session stays in memory.

import { computed, signal } from '@preact/signals';
import type { SessionRecord, SessionUserRecord } from '../../dashboard/records/auth.ts';
import { get, onSignedOut, post } from './api.ts';
import { moneyTerms } from './money-terms.ts';
import { notifyTabs, rememberSession, watchTabs } from './other-tabs.ts';
import { service } from './service.ts';

/** `undefined` until loaded, `null` when signed out. */
export const session = signal<SessionUserRecord | null | undefined>(undefined);

/** How sign-up works on this server, and where its mail goes. */
export const house = signal<Pick<SessionRecord, 'sign_up' | 'mail'>>({
  sign_up: 'closed',
  mail: 'log',
});

/** Resolves once `session` is known. Rejects if the server does not respond. */
export async function loadSession(): Promise<void> {
  const { user, usd_per_million, ...about } = await get<SessionRecord>('/auth/session');
  const { code, per_usd } = service.currency;
  moneyTerms.value = { usdPerMillion: usd_per_million, currency: { code, perUsd: per_usd } };
  house.value = about;
  session.value = user;
  rememberSession(user !== null);
}

/** Whether the account can be read but not changed. */
export const isFrozen = computed(() => (session.value?.account?.standing ?? 'active') !== 'active');

/** Follows what other tabs of this browser do. */
export function followTabs(): void {
  watchTabs((notice) => {
    if (notice === 'signed_in') window.location.reload();
    else if (session.value) onSignedOut('other_tab');
  });
}

export async function signOut(): Promise<void> {
  await post('/auth/logout');
  rememberSession(false);
  notifyTabs('signed_out');
  window.location.assign(`${APP_PREFIX}/sign-in`);
}
