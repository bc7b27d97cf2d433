// The server's own reasoning items, as they are kept and given back: encrypted thinking that only
// this server can read.

import type { JsonObject } from '../../../core/generation.ts';
import { toList, toText } from '../narrow.ts';

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
