// The state of the playground while the page is open: what is typed, and one conversation for each of
// the compared models. Stored in the browser after each change.

import { batch, effect, signal } from '@preact/signals';
import { ApiError, request } from '../../ui/api.ts';
import { session } from '../../ui/session.ts';
import { createConversation } from './conversation.ts';
import { type Draft, restoredDraft } from './draft.ts';
import { createLibrary, type Library, type StoredConversation, titleOf } from './library.ts';
import type { Picture } from './picture.ts';
import { refusalInWords } from './refusal.ts';
import { PATHS, type Turn } from './request.ts';

const DRAFT_DELAY_MS = 300;

const createLane = () =>
  createConversation({
    send: (format, body, signal) => request('POST', `/playground${PATHS[format]}`, body, signal),
    refusalOf(error) {
      if (!(error instanceof ApiError)) return undefined;
      const { code, param, requestId, retryAfterSeconds } = error;
      const message = refusalInWords(error.message, retryAfterSeconds);
      return { message, code, param, requestId };
    },
    now: () => performance.now(),
  });

export type Lane = ReturnType<typeof createLane>;

/** The second one answers only while two models are compared. */
export const LANES: readonly [Lane, Lane] = [createLane(), createLane()];

export const draft = signal<Draft>(restoredDraft({}));
/** Of the message that is being written. */
export const pictures = signal<readonly Picture[]>([]);
/** The conversation that is shown; its title is empty until the user gives one. */
const current = signal({ id: newId(), title: '' });
/** Counts changes of the library, so that lists are read again. */
export const libraryVersion = signal(0);

let opened: Library | undefined;
/** As they were opened: looking at a conversation does not change it. */
let openedTurns: readonly (readonly Turn[])[] = [];

/** Opens the storage of the signed-in account on first use, with the draft of the last visit. */
export function library(): Library {
  if (opened !== undefined) return opened;
  const own = createLibrary(storage(), session.value?.account?.id ?? '');
  opened = own;
  draft.value = restoredDraft(own.readDraft());
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const typed = draft.value;
    clearTimeout(timer);
    timer = setTimeout(() => own.saveDraft(typed), DRAFT_DELAY_MS);
  });
  window.addEventListener('pagehide', () => own.saveDraft(draft.value));
  effect(() => {
    const shown = LANES.map(({ turns }) => turns.value);
    const isOpened = shown.every((turns, lane) => turns === openedTurns[lane]);
    if (!isOpened && shown.some((turns) => turns.length > 0)) save();
  });
  return own;
}

/** Browsers may refuse access to it. */
function storage(): Pick<Storage, 'getItem' | 'setItem'> {
  try {
    return localStorage;
  } catch {
    return { getItem: () => null, setItem: () => undefined };
  }
}

function save(): void {
  const { id, title } = current.peek();
  const { format, model, other } = draft.peek();
  const [one, two] = LANES.map(({ turns }) => turns.peek());
  library().save({
    ...{ id, format, at: Date.now() },
    title: title || titleOf(one ?? []),
    lanes: [
      { model, turns: one ?? [] },
      ...(two === undefined || two.length === 0 ? [] : [{ model: other, turns: two }]),
    ],
  });
  libraryVersion.value = libraryVersion.peek() + 1;
}

/** The formats have different parameters. */
export function changeDraft(more: Partial<Draft>): void {
  draft.value = { ...draft.value, ...more };
}

/** The settings of a preset; the message stays. */
export function restore(preset: Partial<Draft>): void {
  draft.value = { ...restoredDraft(preset), text: draft.value.text };
}

export function startNew(): void {
  batch(() => {
    current.value = { id: newId(), title: '' };
    for (const lane of LANES) lane.load([]);
    pictures.value = [];
  });
}

export function open({ id, title, format, lanes }: StoredConversation): void {
  const [one, two] = lanes;
  openedTurns = [one?.turns ?? [], two?.turns ?? []];
  batch(() => {
    current.value = { id, title };
    changeDraft({
      format: format === 'messages' ? 'messages' : 'chat',
      model: one?.model ?? '',
      other: two?.model ?? '',
    });
    for (const [index, lane] of LANES.entries()) lane.load(openedTurns[index] ?? []);
  });
}

export function rename(id: string, title: string): void {
  if (current.value.id === id) current.value = { id, title };
  library().rename(id, title);
  libraryVersion.value = libraryVersion.peek() + 1;
}

/** Of the conversation that is shown nothing stays. */
export function removeStored(id: string): void {
  if (current.value.id === id) startNew();
  library().remove(id);
  libraryVersion.value = libraryVersion.peek() + 1;
}

export function removeAllStored(): void {
  startNew();
  library().removeAll();
  libraryVersion.value = libraryVersion.peek() + 1;
}

export const isShown = (id: string): boolean => current.value.id === id;

function newId(): string {
  return crypto.randomUUID();
}
