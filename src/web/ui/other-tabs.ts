// Keeps the tabs of one browser at the same session: one that signs in or out notifies the others.
// Also remembers that there was a session, to draw the right frame before the server answers.

import { readStored, store } from './stored.ts';

type Notice = 'signed_in' | 'signed_out';

const NAME = `tollgate-session${APP_PREFIX}`;

/** Absent in old browsers: their tabs notice at the next request. */
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : undefined;

export function notifyTabs(notice: Notice): void {
  channel?.postMessage(notice);
}

export function watchTabs(onNotice: (notice: Notice) => void): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<Notice>) => onNotice(data));
}

/** Whether the browser had a session when it was last here. */
export function hadSession(): boolean {
  return readStored(NAME) !== null;
}

export function rememberSession(isSignedIn: boolean): void {
  store(NAME, isSignedIn ? 'yes' : undefined);
}
