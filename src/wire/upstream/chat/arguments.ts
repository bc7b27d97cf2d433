// The arguments of a tool call as JSON text. Text is passed on unchanged. If a server sends an
// object, its source text is used, since printing a parsed value would reorder integer-like keys
// and round large integers.

import { valueSources } from '../../json-source.ts';
import { ARGUMENTS_DEPTH_MAX } from '../limits.ts';

/** The source text of one call's arguments in one chunk; empty if there are none. */
export type ArgumentSource = () => string;

/** The member with a choice's content: in a stream's chunk, or in a whole body. */
export type ChunkMember = 'delta' | 'message';

/** The sources of all calls of a chunk, located once and on demand. */
export function createArgumentSources(chunk: string, member: ChunkMember) {
  let sources: ReadonlyMap<string, string> | undefined;
  let legacySources: ReadonlyMap<string, string> | undefined;
  return {
    ofCall(choice: number, index: number): string {
      const path = ['choices', '*', member, 'tool_calls', '*', 'function', 'arguments'];
      sources ??= valueSources(chunk, path);
      return sources.get(`${choice}.${index}`) ?? '';
    },
    ofLegacyCall(choice: number): string {
      legacySources ??= valueSources(chunk, ['choices', '*', member, 'function_call', 'arguments']);
      return legacySources.get(`${choice}`) ?? '';
    },
  };
}

/** Undefined if the arguments nest too deeply for later parsers. */
export function readArguments(value: unknown, source: ArgumentSource): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return nestsDeeper(value, ARGUMENTS_DEPTH_MAX) ? undefined : source();
}

function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => nestsDeeper(member, levels - 1));
}
