// The rules of earlier turns at Anthropic: calls and results belong together, and thinking must return
// as it was given. Since Opus 5.5 a block is bound to everything before it, cache marks excepted; a
// mismatch is 400 unless the request asks for the block to be dropped, which needs a beta header.
// A dropped block is not a returned one. Blocks of one turn that changed places are mismatches at every
// generation, which is stricter than the guide: it wants the blocks unmodified and in order.
// From: the preserved-thinking page of the vendor's guides; types of @anthropic-ai/sdk 1.14.0.

import { type Generation, refusal } from './anthropic-generations.ts';
import { blocksOf, type MessagesBody, type MessagesTurn } from './messages-body.ts';
import type { Json, Seen } from './server.ts';

const BETA = 'thinking-binding-controls-2026-08-01';

type Binding = { readonly prefix: string; readonly position: number };

/** Signatures that were given out, with what stood before their block. */
const bindings = new Map<string, Binding>();

/** Remembers what a signature is bound to: the request, and its place in the turn. */
export function bind(signature: string, body: MessagesBody, position: number): void {
  bindings.set(signature, { prefix: prefixOf(body, body.messages), position });
}

function prefixOf(
  { model, system, tools }: MessagesBody,
  messages: readonly MessagesTurn[],
): string {
  return JSON.stringify(unmarked([model, system ?? null, tools ?? null, messages]));
}

/** A value without cache marks, its members in order. */
function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== 'cache_control');
  return Object.fromEntries(entries.sort().map(([name, each]) => [name, unmarked(each)]));
}

/** Checks calls and their results. */
export function checkCalls({ messages, thinking }: MessagesBody): void {
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== 'assistant') continue;
    const uses = blocksOf(content).filter((block) => block.type === 'tool_use');
    const results = blocksOf(messages[index + 1]?.content).map((block) => block.tool_use_id);
    const lost = uses.find((use) => !results.includes(use.id));
    if (lost !== undefined) {
      throw refusal(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${lost.id}.`,
      );
    }
    const first = blocksOf(content)[0]?.type ?? '';
    const needsThinking = thinking?.type === 'enabled' && index === lastAnswer && uses.length > 0;
    if (needsThinking && !first.endsWith('thinking')) {
      throw refusal(
        `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`.`,
      );
    }
  }
}

/** Checks the thinking that returned, and gives the transformations that the answer reports. */
export function checkBlocks(
  body: MessagesBody,
  seen: Pick<Seen, 'headers' | 'returned'>,
  { binds }: Generation,
): Json {
  const binding = body.thinking?.block_binding;
  const hasBeta = (seen.headers['anthropic-beta'] ?? '').includes(BETA);
  if (binding !== undefined && !hasBeta) {
    throw refusal('thinking.block_binding: Extra inputs are not permitted');
  }
  const dropped: Json[] = [];
  for (const [index, { content }] of body.messages.entries()) {
    for (const [position, block] of blocksOf(content).entries()) {
      if (block.type !== 'thinking') continue;
      const at = `messages.${index}.content.${position}: Invalid \`signature\` in \`thinking\` block`;
      const given = bindings.get(block.signature ?? '');
      if (given === undefined) throw refusal(at);
      const inPlace = given.position === position;
      if (inPlace && (!binds || given.prefix === prefixOf(body, body.messages.slice(0, index)))) {
        seen.returned.push(block.signature ?? '');
        continue;
      }
      if (binding?.prefix_mismatch_behavior !== 'drop_block') {
        throw refusal(
          `${at}. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
        );
      }
      const place = { message_index: index, content_index: position };
      dropped.push({ type: 'thinking_dropped', reason: 'prefix_binding_mismatch', ...place });
    }
  }
  return hasBeta ? { input_transformations: dropped } : {};
}
