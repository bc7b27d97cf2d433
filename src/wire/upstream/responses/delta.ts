// The events of a Responses stream that are nothing but a piece of text or thinking: most of them.

import { isObject } from '../../../core/json.ts';
import type { LaneKind } from '../frame.ts';
import { toText } from '../narrow.ts';

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

/** The members in `varying` differ from event to event and say nothing. */
export const ITEM_LANE: LaneKind<ItemDelta> = {
  read: readItemDelta,
  withText: ({ kind, item, part }, text) => ({ kind, item, part, text }),
  varying: ['sequence_number', 'obfuscation'],
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
