// Folds speaker names into text, for upstreams without a field for them. Shared by both dialects.

import type { ContentPart, Turn } from '../../core/generation.ts';

/**
 * The same turns without names: a named user's text begins with the name, as in a transcript. An
 * assistant's name is dropped, because a model would start its own answers with one.
 */
export function foldNames(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) => ('name' in turn ? foldName(turn) : turn));
}

function foldName(turn: Turn): Turn {
  if (turn.role === 'assistant') {
    const { name: _, ...rest } = turn;
    return rest;
  }
  if (turn.role !== 'user' || turn.name === undefined) return turn;
  return { role: 'user', parts: withName(turn.name, turn.parts) };
}

function withName(name: string, parts: readonly ContentPart[]): readonly ContentPart[] {
  const [first, ...others] = parts;
  if (first?.kind !== 'text') return [{ kind: 'text', text: `${name}:` }, ...parts];
  return [{ kind: 'text', text: `${name}: ${first.text}` }, ...others];
}
