// The state of the playground while the application is open: the settings, the message that is being
// written, and a conversation with each of the compared models.

import { effect, signal } from '@preact/signals';
import { ApiError, request } from '../../ui/api.ts';
import { session } from '../../ui/session.ts';
import { createConversation } from './conversation.ts';
import { readLastConversation, storeLastConversation } from './last-conversation.ts';
import { refusalInWords } from './refusal.ts';
import { PATHS, type UserTurn } from './request.ts';
import { NO_SETTINGS, type Settings } from './settings.ts';

/** The second one is used only while two models are compared. */
export const conversations = [0, 1].map(() =>
  createConversation({
    send: (format, body, signal) => request('POST', `/playground${PATHS[format]}`, body, signal),
    refusalOf(error) {
      if (!(error instanceof ApiError)) return undefined;
      const { code, param, requestId, retryAfterSeconds } = error;
      const message = refusalInWords(error, retryAfterSeconds);
      return { message, code, param, request_id: requestId };
    },
    now: () => performance.now(),
  }),
);

export const settings = signal(NO_SETTINGS);

export function changeSettings(more: Partial<Settings>): void {
  settings.value = { ...settings.value, ...more };
}

export const NO_MESSAGE: UserTurn = { kind: 'user', text: '', pictures: [] };

export const message = signal(NO_MESSAGE);

export function changeMessage(more: Partial<UserTurn>): void {
  message.value = { ...message.value, ...more };
}

let isRestored = false;

/** On first use, shows the last conversation of the signed-in account, and stores it from then on. */
export function restoreLast(): void {
  if (isRestored) return;
  isRestored = true;
  const account = session.value?.account?.id ?? '';
  const last = readLastConversation(account);
  if (last !== undefined) {
    const [one, two] = last.lanes;
    changeSettings({ format: last.format, model: one?.model ?? '', other: two?.model ?? '' });
    for (const [index, { turns }] of last.lanes.entries()) conversations[index]?.load(turns);
  }
  effect(() => {
    const shown = conversations.map(({ turns }) => turns.value);
    const { format, model, other } = settings.peek();
    const lanes = [model, other].map((each, index) => ({ model: each, turns: shown[index] ?? [] }));
    storeLastConversation(account, { format, lanes });
  });
}

export function startNew(): void {
  for (const conversation of conversations) conversation.load([]);
}
