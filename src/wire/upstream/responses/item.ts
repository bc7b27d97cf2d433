// The items of a Responses answer: the events that are nothing but a piece of one, what is kept of one
// while it is open, and what a whole one says.

import type { GenerationEvent, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import { customArguments } from '../../custom-input.ts';
import { authorityOf } from '../../image-type.ts';
import type { AnswerBlocks, Native } from '../answer-blocks.ts';
import type { LaneKind } from '../frame.ts';
import { ANNOTATIONS_LENGTH_MAX } from '../limits.ts';
import { toCount, toList, toObject, toText } from '../narrow.ts';
import { SurrogateJoiner } from '../surrogates.ts';
import type { OpenCall } from '../tool-blocks.ts';

export type ItemDelta = {
  readonly kind: 'text' | 'summary' | 'thought';
  /** The index of its item in the answer; undefined if the server sends none. */
  readonly item: number | undefined;
  /** The index of its part in the item. */
  readonly part: number;
  readonly text: string;
};

const KINDS: ReadonlyMap<unknown, ItemDelta['kind']> = new Map([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'text'],
  ['response.reasoning_summary_text.delta', 'summary'],
  // Open models show their thinking itself.
  ['response.reasoning_text.delta', 'thought'],
]);

export const ITEM_LANE: LaneKind<ItemDelta> = {
  read: readItemDelta,
  withText: ({ kind, item, part }, text) => ({ kind, item, part, text }),
  varying:
    /(?<="sequence_number": ?)(?:0|[1-9]\d{0,14})(?=[,}])|(?<="obfuscation": ?")[^"\\]*(?=")/g,
};

export function readItemDelta(value: unknown): ItemDelta | undefined {
  if (!isObject(value) || value['error'] !== undefined) return undefined;
  const kind = KINDS.get(value['type']);
  const text = toText(value['delta']);
  if (kind === undefined || text === '') return undefined;
  const part = toIndex(value[kind === 'summary' ? 'summary_index' : 'content_index']) ?? 0;
  return { kind, item: toIndex(value['output_index']), part, text };
}

export function toIndex(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

type Kind = ItemDelta['kind'];

/** What every item has. */
type Pairs = { readonly pairs: SurrogateJoiner };

export type Prose = Pairs & {
  readonly kind: 'prose';
  /** What it says: the first kind of its parts, since others tell the same thinking again. */
  says?: Kind;
  /** The index of its last part that has been heard; a whole item repeats those. */
  heard: number;
  /** Where its parts begin in the text of the answer; NaN if other text stands in them. */
  readonly starts: Map<number, number>;
  /** Where its text ends there. */
  end?: number;
  readonly phase?: string;
  readonly native?: Native;
};

/** `isText`: pieces of its input have been written, and its end has not. */
export type Call = Pairs & { readonly kind: 'call'; call?: OpenCall; isText?: boolean };

/** An item that has started and not ended. Ignored: tools of the server itself, and unknown types. */
export type Item = Prose | Call | (Pairs & { readonly kind: 'ignored' });

/** Takes the place of the thinking in the answer, if the server gets it back. */
export function beginItem(
  value: JsonObject,
  profile: ResponsesProfile,
  blocks: AnswerBlocks,
): Item {
  const pairs = new SurrogateJoiner();
  const prose = { kind: 'prose', heard: -1, starts: new Map(), pairs } as const;
  switch (value['type']) {
    case 'message': {
      const phase = profile.phases === 'send' ? toText(value['phase']) : '';
      return { ...prose, ...(phase === '' ? {} : { phase }) };
    }
    case 'reasoning': {
      const native = profile.reasoningHistory === 'encrypted' ? blocks.beginNative() : undefined;
      return { ...prose, ...(native && { native }) };
    }
    case 'function_call':
    case 'custom_tool_call':
      return { kind: 'call', pairs };
    default:
      return { kind: 'ignored', pairs };
  }
}

/** The text and the thinking of a whole item. */
export function wholeParts(value: JsonObject): ItemDelta[] {
  const parts = (list: unknown, kind: Kind): ItemDelta[] =>
    toList(list).flatMap((given, part) => {
      const { text, refusal } = toObject(given);
      const said = toText(text) || toText(refusal);
      return said === '' ? [] : [{ kind, item: undefined, part, text: said }];
    });
  if (value['type'] !== 'reasoning') return parts(value['content'], 'text');
  return [...parts(value['summary'], 'summary'), ...parts(value['content'], 'thought')];
}

/** Emits each citation of a web page once. Other annotations name files of the upstream's. */
export function createCitationReader(onEvent: (event: GenerationEvent) => void) {
  const seen = new Set<string>();
  let room = ANNOTATIONS_LENGTH_MAX;
  /** Reads those of a part that is the text of the answer from `from` to `to`. */
  return (annotations: unknown, from: number, to: number): void => {
    for (const value of toList(annotations)) {
      const { type, url, title, start_index, end_index } = toObject(value);
      const start = from + (toCount(start_index) ?? Number.NaN);
      const end = from + (toCount(end_index) ?? Number.NaN);
      if (type !== 'url_citation' || typeof url !== 'string' || typeof title !== 'string') continue;
      const json = JSON.stringify({ type, start_index: start, end_index: end, url, title });
      if (!(start <= end && end <= to) || json.length >= room || seen.has(json)) continue;
      if (authorityOf(url) === undefined || !URL.canParse(url)) continue;
      seen.add(json);
      room -= json.length + 1;
      const citation = { start, end, url: url.toWellFormed(), title: title.toWellFormed() };
      onEvent({ kind: 'annotation', citation });
    }
  };
}

/** A custom tool takes text, which becomes a member of its input. */
export function argumentsOf(value: JsonObject): string {
  if (value['type'] !== 'custom_tool_call') return toText(value['arguments']);
  return customArguments(toText(value['input']));
}

/** How a kept item begins: encrypted thinking that only this server can read. */
const START = '{"type":"reasoning",';

/**
 * The members that the server needs, as JSON text; undefined without encrypted thinking: a server
 * that stores nothing cannot find the item by its id. The id stays as received, because some servers
 * demand it.
 */
export function keptItem({ id, summary, encrypted_content }: JsonObject): string | undefined {
  if (toText(encrypted_content) === '') return undefined;
  const kept = {
    type: 'reasoning',
    id: toText(id) || undefined,
    summary: toList(summary),
    encrypted_content,
  };
  return JSON.stringify(kept);
}

/** Whether a kept item is one of this format. */
export function isReasoningItem(json: string): boolean {
  return json.startsWith(START);
}
