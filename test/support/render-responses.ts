// Renders a model's answer in the Responses dialect, for render.ts.

import type { Finish, Piece, ReportedUsage, Script } from './render.ts';

type Item = Readonly<Record<string, unknown>> & { readonly type: string };

type Draft = {
  readonly kind: string;
  readonly type: 'message' | 'reasoning' | 'function_call';
  readonly call?: { readonly id: string | undefined; readonly name: string | undefined };
  readonly pieces: string[];
};

/** What the upstream of this dialect encrypts its thinking to. */
export const ENCRYPTED = 'ZW5jcnlwdGVkIGJ5IHRoZSBzY3JpcHQ=';

/** Why an answer is not complete; the format has no reason for a lack of capacity. */
const REASONS: Readonly<Partial<Record<Finish, string>>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

export function wholeResponse(model: string, script: Script): Item {
  return { ...envelope(model, script.finish), ...bodyOf(script) } as unknown as Item;
}

/** The last three frames end the content and the answer, as in the other dialects. */
export function responseFrames(model: string, script: Script): string[] {
  const frames: string[] = [];
  const add = (type: string, members: object): void => {
    const data = { type, sequence_number: frames.length, ...members };
    frames.push(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  add('response.created', { response: { ...envelope(model), output: [] } });
  for (const [output_index, draft] of draftsOf(script).entries()) {
    const at = { item_id: `item_${output_index}`, output_index };
    const [event, part] = EVENTS[draft.type];
    add('response.output_item.added', { output_index, item: itemOf({ ...draft, pieces: [] }) });
    for (const delta of draft.pieces) add(`response.${event}.delta`, { ...at, ...part, delta });
    add(`response.${event}.done`, { ...at, ...part, ...wholeOf(draft) });
    add('response.output_item.done', { output_index, item: itemOf(draft) });
  }
  const type = REASONS[script.finish] === undefined ? 'completed' : 'incomplete';
  add(`response.${type}`, { response: wholeResponse(model, script) });
  return frames;
}

const EVENTS = {
  message: ['output_text', { content_index: 0 }],
  reasoning: ['reasoning_summary_text', { summary_index: 0 }],
  function_call: ['function_call_arguments', {}],
} as const;

function wholeOf({ type, pieces }: Draft): object {
  const text = pieces.join('');
  return type === 'function_call' ? { arguments: text } : { text };
}

function draftsOf({ pieces }: Script): Draft[] {
  const drafts: Draft[] = [];
  for (const piece of pieces) {
    const [draft, text] = draftOf(piece);
    const known = drafts.find(({ kind }) => kind === draft.kind);
    const open = known !== undefined && (known === drafts.at(-1) || known.call !== undefined);
    if (open) known.pieces.push(text);
    else drafts.push({ ...draft, pieces: text === '' ? [] : [text] });
  }
  return drafts;
}

function draftOf(piece: Piece): [Omit<Draft, 'pieces'>, text: string] {
  if ('text' in piece) return [{ kind: 'text', type: 'message' }, piece.text];
  if ('reasoning' in piece) return [{ kind: 'reasoning', type: 'reasoning' }, piece.reasoning];
  const { tool, id, name, json } = piece;
  return [{ kind: `tool ${tool}`, type: 'function_call', call: { id, name } }, json];
}

function itemOf({ type, call, pieces }: Draft): Item {
  const text = pieces.join('');
  switch (type) {
    case 'message': {
      const content = text === '' ? [] : [{ type: 'output_text', text, annotations: [] }];
      return { id: 'msg_scripted', type, role: 'assistant', status: 'completed', content };
    }
    case 'reasoning': {
      const summary = text === '' ? [] : [{ type: 'summary_text', text }];
      return { id: 'rs_scripted', type, summary, encrypted_content: ENCRYPTED };
    }
    case 'function_call':
      return { id: 'fc_scripted', type, call_id: call?.id, name: call?.name, arguments: text };
  }
}

function envelope(model: string, finish?: Finish): object {
  const reason = finish === undefined ? undefined : REASONS[finish];
  const ended = reason === undefined ? 'completed' : 'incomplete';
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: 1_700_000_000,
    status: finish === undefined ? 'in_progress' : ended,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model,
    service_tier: 'default',
  };
}

function bodyOf(script: Script): object {
  const { usage } = script;
  return {
    output: draftsOf(script).map(itemOf),
    usage: usage === undefined ? null : responseUsage(usage),
  };
}

function responseUsage({ prompt, cached, written = 0, completion, reasoning = 0 }: ReportedUsage) {
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + completion,
  };
}
