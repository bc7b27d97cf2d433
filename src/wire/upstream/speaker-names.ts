// Names of speakers, for upstreams that have no member for them. Called by the writers of both
// dialects.

import type { ContentPart, Turn } from '../../core/generation.ts';

/**
 * The same turns without names: what a named user says begins with the name, as in a transcript. An
 * assistant's name is left out, because a model would begin its own answers with one.
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
