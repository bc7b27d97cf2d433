// The state of the playground while the application is open: what is typed, and one conversation for
// each of the compared models. The conversations are stored in the browser after each change.

import { batch, effect, signal } from '@preact/signals';
import { ApiError, request } from '../../ui/api.ts';
import { session } from '../../ui/session.ts';
import { createConversation } from './conversation.ts';
import { type Draft, EMPTY_DRAFT } from './draft.ts';
import { readLastConversation, storeLastConversation } from './last-conversation.ts';
import type { Picture } from './picture.ts';
import { refusalInWords } from './refusal.ts';
import { PATHS } from './request.ts';

const createLane = () =>
  createConversation({
    send: (format, body, signal) => request('POST', `/playground${PATHS[format]}`, body, signal),
    refusalOf(error) {
      if (!(error instanceof ApiError)) return undefined;
      const { code, param, requestId, retryAfterSeconds } = error;
      const message = refusalInWords(error.message, retryAfterSeconds);
      return { message, code, param, request_id: requestId };
    },
    now: () => performance.now(),
  });

export type Lane = ReturnType<typeof createLane>;

/** The second one answers only while two models are compared. */
export const LANES: readonly [Lane, Lane] = [createLane(), createLane()];

export const draft = signal<Draft>(EMPTY_DRAFT);
/** Of the message that is being written. */
export const pictures = signal<readonly Picture[]>([]);

let isRestored = false;

/** On first use, shows the last conversation of the signed-in account, and stores it from then on. */
export function restoreLast(): void {
  if (isRestored) return;
  isRestored = true;
  const account = session.value?.account?.id ?? '';
  const last = readLastConversation(account);
  if (last !== undefined) {
    const [one, two] = last.lanes;
    changeDraft({ format: last.format, model: one?.model ?? '', other: two?.model ?? '' });
    for (const [index, { turns }] of last.lanes.entries()) LANES[index]?.load(turns);
  }
  effect(() => {
    const shown = LANES.map(({ turns }) => turns.value);
    const { format, model, other } = draft.peek();
    const lanes = [model, other].map((each, index) => ({ model: each, turns: shown[index] ?? [] }));
    storeLastConversation(account, { format, lanes });
  });
}

/** The formats have different parameters. */
export function changeDraft(more: Partial<Draft>): void {
  draft.value = { ...draft.value, ...more };
}

export function startNew(): void {
  batch(() => {
    for (const lane of LANES) lane.load([]);
    pictures.value = [];
  });
}
