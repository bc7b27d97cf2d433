// The last conversation in the browser's storage, apart for each account, without the data of images
// and without API keys.

import { readStoredJson, store } from '../../ui/stored.ts';
import type { Turn } from './request.ts';
import type { Format } from './settings.ts';

export type LastConversation = {
  readonly format: Format;
  /** One lane for each model: its slug and its turns. */
  readonly lanes: readonly { readonly model: string; readonly turns: readonly Turn[] }[];
};

/** The number changes with the stored form, so that another form is never read. */
const PREFIX = 'tollgate-conversation-1:';

/** Undefined if this browser has none. */
export function readLastConversation(account: string): LastConversation | undefined {
  return readStoredJson(PREFIX + account) as LastConversation | undefined;
}

/** Without a turn, nothing stays stored. */
export function storeLastConversation(account: string, { format, lanes }: LastConversation): void {
  const kept = lanes
    .filter(({ turns }) => turns.length > 0)
    .map(({ model, turns }) => ({ model, turns: turns.map(withoutData) }));
  const text = kept.length === 0 ? undefined : withoutKeys(JSON.stringify({ format, lanes: kept }));
  store(PREFIX + account, text);
}

/** Images are too large to be stored. */
function withoutData(turn: Turn): Turn {
  if (turn.kind !== 'user') return turn;
  return { ...turn, pictures: turn.pictures.map((picture) => ({ ...picture, data: '' })) };
}

/** Keys that were pasted into a message are not stored. */
function withoutKeys(text: string): string {
  return text.replaceAll(/sk-[A-Za-z0-9]{4}[A-Za-z0-9]{40}([A-Za-z0-9]{4})/g, 'sk-…$1');
}
