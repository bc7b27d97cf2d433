// Requests, answers and streams for the tests of the Responses dialect, and its decoder run over
// bytes. Shared by the tests of this folder.

import type { GenerationRequest, ToolTurn } from '../../../../src/core/generation.ts';
import { OPENAI_RESPONSES } from '../../../../src/core/openai-profiles.ts';
import type { ResponsesProfile } from '../../../../src/core/responses-profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import type { FrameLane } from '../../../../src/wire/upstream/frame.ts';
import {
  createResponsesStream,
  responsesDialect,
} from '../../../../src/wire/upstream/responses/dialect.ts';
import type { ItemDelta } from '../../../../src/wire/upstream/responses/item.ts';
import { writeResponsesRequest } from '../../../../src/wire/upstream/responses/request.ts';
import { requestWith } from '../../../support/request.ts';
import { AFTER_ONE_TURN, type Decoded, decode } from '../support.ts';

export { assistant, picture, user } from '../../../support/request.ts';

/** The one with the most rules of its own. */
export const PROFILE: ResponsesProfile = OPENAI_RESPONSES;

export const CALL: UpstreamCall = {
  upstream: 'here',
  model: 'upstream-model',
  maxOutputTokens: 4_096,
  stream: false,
  reasons: true,
};

export const result = (toolCallId: string, text: string, isError = false): ToolTurn => ({
  role: 'tool',
  toolCallId,
  text,
  isError,
});

export const call = (id: string, json = '{"a":1}') => ({ id, name: 'f', arguments: json });

/** The JSON text that the upstream gets, or the failure. */
export function write(
  request: Partial<GenerationRequest>,
  profile: Partial<ResponsesProfile> = {},
  more: Partial<UpstreamCall> = {},
) {
  return writeResponsesRequest(
    requestWith(request),
    { ...CALL, ...more },
    { ...PROFILE, ...profile },
  );
}

type Item = Readonly<Record<string, unknown>>;

/** The same, parsed; a failure is an error of the test. */
export function written(...parameters: Parameters<typeof write>): Record<string, unknown> {
  const text = write(...parameters);
  if (typeof text !== 'string') throw new Error(text.detail);
  return JSON.parse(text);
}

/** The items of its input. */
export function items(
  turns: GenerationRequest['turns'],
  profile: Partial<ResponsesProfile> = {},
  more: Partial<UpstreamCall> = {},
): readonly Item[] {
  return written({ turns }, profile, more)['input'] as readonly Item[];
}

export const said = (text: string, phase?: string): Item => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
  ...(phase === undefined ? {} : { phase }),
});

export const asked = (text: string): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

/** Reads the body of a whole answer. */
export const readResponse = (body: string, profile: Partial<ResponsesProfile> = {}) =>
  responsesDialect({ ...PROFILE, ...profile }).response(body);

/** Decodes a stream whose bytes arrive in these reads. */
export const decodeReads = (
  reads: readonly Uint8Array[],
  lane?: FrameLane<ItemDelta>,
  profile: Partial<ResponsesProfile> = {},
): Decoded =>
  decode(reads, (onEvent) =>
    createResponsesStream(onEvent, { ...PROFILE, ...profile }, AFTER_ONE_TURN, lane),
  );

export const frame = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

export const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5, cache_write_tokens: 4 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 30,
};

export type OutputItem = { readonly type: string } & Item;

/** What a server streams for these items. */
export function streamOf(output: readonly OutputItem[], pieceLength = 3): string {
  const texts = output.map((item, output_index) => {
    const at = { item_id: item['id'], output_index };
    const pieces = (text: unknown): string[] =>
      String(text).match(new RegExp(`[^]{1,${pieceLength}}`, 'gu')) ?? [];
    const started = { ...item, content: [], summary: [], arguments: '', encrypted_content: 'part' };
    const inner = (list: unknown, kind: string, index: string): string =>
      ((list ?? []) as readonly { text?: string; refusal?: string }[])
        .map(({ text, refusal }, part) => {
          const type = refusal === undefined ? kind : 'refusal';
          return pieces(text ?? refusal)
            .map((delta) => frame(`response.${type}.delta`, { ...at, [index]: part, delta }))
            .join('');
        })
        .join('');
    return [
      frame('response.output_item.added', { output_index, item: started }),
      item.type === 'reasoning'
        ? inner(item['summary'], 'reasoning_summary_text', 'summary_index')
        : '',
      item.type === 'reasoning'
        ? inner(item['content'], 'reasoning_text', 'content_index')
        : inner(item['content'], 'output_text', 'content_index'),
      ...(item.type === 'function_call' ? pieces(item['arguments']) : []).map((delta) =>
        frame('response.function_call_arguments.delta', { ...at, delta }),
      ),
      item.type === 'function_call'
        ? frame('response.function_call_arguments.done', { ...at, arguments: item['arguments'] })
        : '',
      frame('response.output_item.done', { output_index, item }),
    ].join('');
  });
  const response = { id: 'resp_1', status: 'completed', output, usage: USAGE };
  return [
    frame('response.created', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
    ...texts,
    frame('response.completed', { response }),
  ].join('');
}

export const bodyOf = (output: readonly OutputItem[]): string =>
  JSON.stringify({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    error: null,
    output,
    usage: USAGE,
  });
