// Answers of the Messages format, whole and as a stream, for every vendor that has the format.

import type { Block } from './messages-body.ts';
import { fresh, type Item, pieces, slowWords, type Turn, textOf } from './script.ts';
import type { Answer, Counts, Json } from './server.ts';

export type MessageShape = {
  readonly model: string;
  readonly stream: boolean;
  readonly turn: Turn;
  readonly counts: Counts;
  /** Makes the signature of the next thinking block. */
  readonly sign: (position: number) => string;
  /** Whether thinking blocks have text, or only a signature. */
  readonly shown: boolean;
  /** Members of the message beside those of the format. */
  readonly more?: Json;
};

/** The answer in the form that the request wants. */
export function answerMessage(shape: MessageShape): Answer {
  const { turn, counts } = shape;
  const content = contentOf(shape);
  const hasCalls = content.some((block) => block.type === 'tool_use');
  const reason = turn.filtered ? 'refusal' : hasCalls ? 'tool_use' : 'end_turn';
  const usage = {
    input_tokens: counts.prompt - counts.cached - counts.written,
    cache_read_input_tokens: counts.cached,
    cache_creation_input_tokens: counts.written,
    cache_creation: {
      ephemeral_5m_input_tokens: counts.written,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens: counts.output,
    output_tokens_details: { thinking_tokens: counts.thinking },
    service_tier: 'standard',
  };
  const message = {
    id: fresh('msg_'),
    type: 'message',
    role: 'assistant',
    model: shape.model,
    stop_reason: reason,
    stop_sequence: null,
    ...shape.more,
  };
  if (!shape.stream) return { whole: { ...message, content, usage } };
  const start = {
    ...message,
    stop_reason: null,
    content: [],
    usage: { ...usage, output_tokens: 1 },
  };
  async function* events(): AsyncGenerator<string> {
    yield event('message_start', { message: start });
    yield event('ping', {});
    for (const [index, block] of content.entries()) {
      yield event('content_block_start', { index, content_block: emptied(block) });
      for await (const delta of deltasOf(block, turn)) {
        yield event('content_block_delta', { index, delta });
      }
      yield event('content_block_stop', { index });
    }
    yield event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage });
    yield event('message_stop', {});
  }
  return { events: events() };
}

function contentOf(shape: MessageShape): readonly Block[] {
  return shape.turn.items.map((item, position) => blockOf(item, position, shape));
}

function blockOf(item: Item, position: number, { sign, shown }: MessageShape): Block {
  switch (item.kind) {
    case 'thought': {
      const thinking = shown ? item.text : '';
      return { type: 'thinking', thinking, signature: sign(position) };
    }
    case 'text':
      return { type: 'text', text: item.text };
    case 'call': {
      const { id, name, json } = item.call;
      return { type: 'tool_use', id, name, input: JSON.parse(json) as unknown };
    }
  }
}

function event(type: string, fields: Json): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function emptied(block: Block): Block {
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} };
}

async function* deltasOf(block: Block, turn: Turn): AsyncGenerator<Json> {
  switch (block.type) {
    case 'thinking':
      for (const thinking of pieces(block.thinking ?? '')) {
        yield { type: 'thinking_delta', thinking };
      }
      yield { type: 'signature_delta', signature: block.signature };
      return;
    case 'text':
      if (block.text === textOf(turn)) {
        for await (const text of slowWords(turn)) yield { type: 'text_delta', text };
      }
      for (const text of pieces(block.text ?? '')) yield { type: 'text_delta', text };
      return;
    default:
      for (const json of ['', ...pieces(JSON.stringify(block['input']))]) {
        yield { type: 'input_json_delta', partial_json: json };
      }
  }
}
