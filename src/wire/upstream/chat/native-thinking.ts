// Collects the thinking of a chat answer in its upstream's own form: entries of
// `reasoning_details`, and the signatures that calls carry. Both must return unchanged.

import type { JsonObject, ThinkingBlock } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import { SIGNED_THINKING_LENGTH_MAX } from '../limits.ts';
import { toList } from '../narrow.ts';

/** Members of an entry that arrive in pieces (openrouter.ai/docs, "Preserving reasoning blocks"). */
const PIECES = ['text', 'summary', 'data'] as const;

type Entry = Record<string, unknown>;

export class NativeThinking {
  readonly #entries: Entry[] = [];
  /** By the position of the call; sparse. */
  readonly #signatures: (string | undefined)[] = [];
  #length = 0;

  /** Takes the entries of one delta. A later piece of an entry has its type and index. */
  addDetails(content: JsonObject): void {
    for (const value of toList(content['reasoning_details'])) {
      if (!isObject(value) || !this.#makeRoom(JSON.stringify(value).length)) continue;
      const last = this.#entries.at(-1);
      const continues = (name: string): boolean => last?.[name] === value[name];
      const isOther = value['id'] != null && last?.['id'] != null && !continues('id');
      const isMore = last !== undefined && continues('type') && continues('index') && !isOther;
      if (isMore) join(last, value);
      else this.#entries.push({ ...value });
    }
  }

  /** Takes what signs the call at a position of the answer. */
  addSignature(value: JsonObject, position: number): void {
    const signature = JSON.stringify(value);
    if (this.#makeRoom(signature.length)) this.#signatures[position] = signature;
  }

  /** Undefined if there is none, or more than is kept. */
  blocks(): readonly ThinkingBlock[] | undefined {
    if (this.#length > SIGNED_THINKING_LENGTH_MAX) return undefined;
    const blocks: ThinkingBlock[] = [];
    for (const entry of this.#entries) blocks.push({ kind: 'native', json: JSON.stringify(entry) });
    for (const signature of this.#signatures) {
      blocks.push({ kind: 'call', ...(signature !== undefined && { signature }) });
    }
    return blocks.length === 0 ? undefined : blocks;
  }

  #makeRoom(more: number): boolean {
    this.#length += more;
    return this.#length <= SIGNED_THINKING_LENGTH_MAX;
  }
}

function join(entry: Entry, more: JsonObject): void {
  for (const [name, value] of Object.entries(more)) {
    const known = entry[name];
    const isPiece = PIECES.some((piece) => piece === name);
    if (isPiece && typeof known === 'string' && typeof value === 'string') {
      entry[name] = known + value;
    } else if (value !== null) entry[name] = value;
  }
}
