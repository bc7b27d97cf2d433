// Asks in words for the rest of an answer that the client has begun, for upstreams that continue no
// assistant turn.

import type { Turn, UserTurn } from '../../core/generation.ts';

const TEXT =
  'Continue your last message exactly where it ends. Repeat none of it, and add no introduction.';
const BRIDGE: UserTurn = { role: 'user', parts: [{ kind: 'text', text: TEXT }] };

/** The same turns; behind a last assistant turn with text and without calls, the request for more. */
export function bridgePrefill(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  const isBegun = last?.role === 'assistant' && last.text !== '' && last.toolCalls.length === 0;
  return isBegun ? [...turns, BRIDGE] : turns;
}
