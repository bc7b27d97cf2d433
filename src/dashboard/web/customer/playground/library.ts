// Conversations, presets and the draft in the browser's storage, apart for each account, bounded, and
// without API keys. What is stored is checked when it is read, because anything can be there.

import type { Draft } from './draft.ts';
import type { Turn } from './request.ts';

export type StoredConversation = {
  readonly id: string;
  readonly title: string;
  /** Of the last change, in Unix milliseconds. */
  readonly at: number;
  readonly format: string;
  /** One lane for each model: its slug and its turns. */
  readonly lanes: readonly { readonly model: string; readonly turns: readonly Turn[] }[];
};

export type Preset = { readonly name: string; readonly draft: Partial<Draft> };

type Stored = {
  readonly conversations: readonly StoredConversation[];
  readonly presets: readonly Preset[];
};

export const CONVERSATIONS_MAX = 50;
export const PRESETS_MAX = 20;
const PRESET_CHARACTERS_MAX = 20_000;
const DRAFT_CHARACTERS_MAX = 200_000;
/** Browsers store about five million characters for all of a site. */
const CHARACTERS_MAX = 2_000_000;
const TITLE_CHARACTERS_MAX = 80;

const NOTHING: Stored = { conversations: [], presets: [] };

export type Library = ReturnType<typeof createLibrary>;

/** Without working storage, everything lasts until the page is left. */
export function createLibrary(storage: Pick<Storage, 'getItem' | 'setItem'>, account: string) {
  const place = `tollgate-playground:${account}`;
  const draftPlace = `${place}:draft`;
  let kept = NOTHING;

  /** Reads again for each change: another tab may have written. */
  function read(): Stored {
    try {
      const value: unknown = JSON.parse(storage.getItem(place) ?? 'null');
      kept = {
        conversations: listOf(value, 'conversations').filter(isConversation),
        presets: listOf(value, 'presets').filter(isPreset),
      };
    } catch {
      // What was kept in memory is all there is.
    }
    return kept;
  }

  /** Drops the oldest conversations until the rest has room. */
  function write(stored: Stored): void {
    let conversations = stored.conversations
      .toSorted((one, other) => other.at - one.at)
      .slice(0, CONVERSATIONS_MAX);
    for (;;) {
      kept = { ...stored, conversations };
      const text = withoutKeys(JSON.stringify(kept));
      try {
        if (text.length > CHARACTERS_MAX) throw new RangeError('It is too long.');
        storage.setItem(place, text);
        return;
      } catch {
        if (conversations.length === 0) return;
        conversations = conversations.slice(0, -1);
      }
    }
  }

  const change = (update: (stored: Stored) => Stored): void => write(update(read()));

  return {
    /** Newest first. */
    conversations: (): readonly StoredConversation[] => read().conversations,
    presets: (): readonly Preset[] => read().presets,

    save(conversation: StoredConversation): void {
      const lanes = conversation.lanes.map(({ model, turns }) => ({
        model,
        turns: turns.map(withoutPictures),
      }));
      const saved = { ...conversation, title: shortTitle(conversation.title), lanes };
      change((stored) => ({
        ...stored,
        conversations: [saved, ...others(stored.conversations, conversation.id)],
      }));
    },
    rename(id: string, title: string): void {
      change((stored) => ({
        ...stored,
        conversations: stored.conversations.map((each) =>
          each.id === id ? { ...each, title: shortTitle(title) } : each,
        ),
      }));
    },
    remove(id: string): void {
      change((stored) => ({ ...stored, conversations: others(stored.conversations, id) }));
    },
    removeAll(): void {
      change((stored) => ({ ...stored, conversations: [] }));
    },

    /** Replaces a preset of the same name. The oldest ones make room. */
    savePreset(preset: Preset): void {
      if (JSON.stringify(preset).length > PRESET_CHARACTERS_MAX) return;
      change((stored) => ({
        ...stored,
        presets: [preset, ...stored.presets.filter(({ name }) => name !== preset.name)].slice(
          0,
          PRESETS_MAX,
        ),
      }));
    },
    removePreset(name: string): void {
      change((stored) => ({
        ...stored,
        presets: stored.presets.filter((preset) => preset.name !== name),
      }));
    },

    readDraft(): Partial<Draft> {
      try {
        const value: unknown = JSON.parse(storage.getItem(draftPlace) ?? 'null');
        return isObject(value) ? (value as Partial<Draft>) : {};
      } catch {
        return {};
      }
    },
    saveDraft(draft: Draft): void {
      const text = withoutKeys(JSON.stringify(draft));
      if (text.length > DRAFT_CHARACTERS_MAX) return;
      try {
        storage.setItem(draftPlace, text);
      } catch {
        // Full, or not allowed.
      }
    },
  };
}

/** The title of a conversation without one: how it begins. */
export function titleOf(turns: readonly Turn[]): string {
  const first = turns.find(({ kind }) => kind === 'user');
  return shortTitle(first?.kind === 'user' ? first.text : '');
}

function shortTitle(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > TITLE_CHARACTERS_MAX ? `${line.slice(0, TITLE_CHARACTERS_MAX - 1)}…` : line;
}

/** Keys that were pasted into a message are not stored. */
function withoutKeys(text: string): string {
  return text.replaceAll(/sk-[A-Za-z0-9]{4}[A-Za-z0-9]{40}([A-Za-z0-9]{4})/g, 'sk-…$1');
}

/** Images are too large to be stored. */
function withoutPictures(turn: Turn): Turn {
  if (turn.kind !== 'user' || turn.pictures === undefined) return turn;
  return { ...turn, pictures: turn.pictures.map((picture) => ({ ...picture, data: '' })) };
}

function others(
  conversations: readonly StoredConversation[],
  id: string,
): readonly StoredConversation[] {
  return conversations.filter((each) => each.id !== id);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}

function isPreset(value: unknown): value is Preset {
  return isObject(value) && typeof value['name'] === 'string' && isObject(value['draft']);
}

function isConversation(value: unknown): value is StoredConversation {
  if (!isObject(value) || typeof value['id'] !== 'string') return false;
  const { title, at, format } = value;
  if (typeof title !== 'string' || typeof at !== 'number' || typeof format !== 'string')
    return false;
  const lanes = listOf(value, 'lanes');
  return lanes.length > 0 && lanes.length <= 2 && lanes.every(isLane);
}

function isLane(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['model'] === 'string' &&
    Array.isArray(value['turns']) &&
    value['turns'].every(isTurn)
  );
}

function isTurn(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { kind, text, callId, answer, facts } = value;
  if (kind === 'user') return typeof text === 'string';
  if (kind === 'tool') return typeof text === 'string' && typeof callId === 'string';
  return kind === 'assistant' && isAnswer(answer) && isObject(facts);
}

function isAnswer(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value['calls'])) return false;
  return [value['text'], value['reasoning'], value['signature']].every(
    (text) => typeof text === 'string',
  );
}
