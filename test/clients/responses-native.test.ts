// What the openai library makes of streams of the format's own vendor: the same from the vendor itself
// and through the gateway. The streams follow the library's types, with what its users have seen beside.

import { beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { type Behaviour, sendText } from '../support/behaviours.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { field } from './library.ts';

type Fields = Readonly<Record<string, unknown>>;

const USAGE = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 400, cache_write_tokens: 100 },
  output_tokens: 60,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 1_060,
};

const thinking = (...summaries: readonly string[]): Fields => ({
  id: 'rs_1',
  type: 'reasoning',
  summary: summaries.map((text) => ({ type: 'summary_text', text })),
  encrypted_content: 'gAAAAA-opaque',
});
const message = (text: string, more: Fields = {}): Fields => ({
  ...{ id: `msg_${text.length}`, type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  ...more,
});
/** A part that cites each of these words of its text, and a file of the vendor's. */
const cited = (text: string, ...words: readonly string[]): Fields => {
  const citations = words.map((word, index) => ({
    ...{ type: 'url_citation', url: `https://example.com/${index}?q=${word}`, title: `“${word}”` },
    ...{ start_index: text.indexOf(word), end_index: text.indexOf(word) + word.length },
  }));
  const file = { type: 'file_citation', file_id: 'file-1', filename: 'a.txt', index: 1 };
  return { type: 'output_text', text, annotations: [file, ...citations], logprobs: [] };
};
const refusal = (text: string): Fields =>
  message('', { content: [{ type: 'refusal', refusal: text }] });
const call = (id: string, name: string, json: string, more: Fields = {}): Fields => ({
  ...{ id: `fc_${id}`, type: 'function_call', status: 'completed', call_id: id, name },
  arguments: json,
  ...more,
});
const custom = (input: string): Fields => ({
  ...{ id: 'ctc_1', type: 'custom_tool_call', status: 'completed', call_id: 'call_c' },
  ...{ name: 'apply_patch', input },
});

const PATCH = '*** Begin Patch\n*** Add File: "é\\n".txt\n+tab\there 🙂\n*** End Patch\n';

/** The items of each answer, and the reason why it is not complete. */
const ANSWERS: Readonly<Record<string, readonly [items: readonly Fields[], reason?: string]>> = {
  text: [[message('Hello, wörld 🙂.')]],
  'two summaries': [[thinking('**First**\n\nA.', '**Then**\n\nB.'), message('Done.')]],
  'hidden thinking': [[thinking(), call('call_1', 'get_weather', '{"city":"Paris"}')]],
  'commentary and calls': [
    [
      thinking('Hm.'),
      message('I look it up.', { phase: 'commentary' }),
      call('call_1', 'get_weather', '{"city":"Paris"}'),
      call('call_2', 'get_weather', '{ "city": "\\u00e9" }'),
    ],
  ],
  citations: [[thinking('Hm.'), message('', { content: [cited('Ägypten 🙂, says one.', 'one')] })]],
  'citations of two parts': [
    [
      message('', { content: [cited('\n\nOne 🙂 is here. ', 'One', '🙂'), cited('Two.', 'Two')] }),
      call('call_1', 'get_weather', '{}'),
    ],
  ],
  'no arguments': [[call('call_1', 'get_weather', '{}')]],
  'a patch': [[thinking('Patch.'), custom(PATCH)]],
  'cut text': [[message('Hel', { status: 'incomplete' })], 'max_output_tokens'],
  'filtered text': [[message('Hel', { status: 'incomplete' })], 'content_filter'],
  'a refusal': [[refusal('I cannot help with that.')]],
};

const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, background: false, error: null },
  ...{ incomplete_details: null, instructions: null, metadata: {}, model: 'm', output: [] },
  ...{ parallel_tool_calls: true, service_tier: 'default', store: false, tool_choice: 'auto' },
  ...{ tools: [], truncation: 'disabled', usage: null },
};

/** The events of an answer as its vendor sends them, in pieces of five characters. */
function streamOf(items: readonly Fields[], reason: string | undefined): string {
  const frames: string[] = [];
  const add = (type: string, members: Fields): void => {
    const data = { type, sequence_number: frames.length, ...members };
    frames.push(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const pieces = (type: string, at: Fields, text: string, done: Fields): void => {
    for (const delta of text.match(/.{1,5}/gsu) ?? []) {
      add(`${type}.delta`, { ...at, delta, obfuscation: 'abc' });
      add('keepalive', {});
    }
    add(`${type}.done`, { ...at, ...done });
  };
  add('response.created', { response: { ...RESPONSE, status: 'in_progress' } });
  add('response.in_progress', { response: { ...RESPONSE, status: 'in_progress' } });
  for (const [output_index, item] of items.entries()) {
    const at = { item_id: item['id'], output_index };
    const empty = { reasoning: 'summary', message: 'content' }[String(item['type'])];
    const begun = { ...item, ...(empty && { [empty]: [] }), status: 'in_progress' };
    add('response.output_item.added', {
      output_index,
      item: {
        ...begun,
        ...('input' in item && { input: '' }),
        ...('arguments' in item && { arguments: '' }),
      },
    });
    for (const [summary_index, part] of parts(item['summary'])) {
      const within = { ...at, summary_index };
      const text = String(part['text']);
      add('response.reasoning_summary_part.added', { ...within, part: { ...part, text: '' } });
      pieces('response.reasoning_summary_text', within, text, { text });
      add('response.reasoning_summary_part.done', { ...within, part });
    }
    for (const [content_index, part] of parts(item['content'])) {
      const within = { ...at, content_index, logprobs: [] };
      const member = part['type'] === 'refusal' ? 'refusal' : 'text';
      const text = String(part[member]);
      add('response.content_part.added', {
        ...within,
        part: { ...part, [member]: '', ...(member === 'text' && { annotations: [] }) },
      });
      pieces(`response.${String(part['type'])}`, within, text, { [member]: text });
      for (const [annotation_index, annotation] of parts(part['annotations'])) {
        add('response.output_text.annotation.added', { ...within, annotation_index, annotation });
      }
      add('response.content_part.done', { ...within, part });
    }
    if (typeof item['arguments'] === 'string') {
      const { arguments: json, name } = item;
      pieces('response.function_call_arguments', at, item['arguments'], { name, arguments: json });
    }
    if (typeof item['input'] === 'string') {
      pieces('response.custom_tool_call_input', at, item['input'], { input: item['input'] });
    }
    add('response.output_item.done', { output_index, item });
  }
  const status = reason === undefined ? 'completed' : 'incomplete';
  const details = reason === undefined ? null : { reason };
  const end = { ...RESPONSE, status, incomplete_details: details, output: items, usage: USAGE };
  add(`response.${status}`, { response: end });
  return frames.join('');
}

function parts(value: unknown): (readonly [number, Fields])[] {
  return Array.isArray(value) ? [...(value as Fields[]).entries()] : [];
}

/**
 * What a user of the library sees. Through the gateway refusals are text, one part holds all text and one
 * summary all thinking, thinking without a summary has no item, and citations are those of web pages.
 */
function seen({ output, status, incomplete_details: details, usage }: OpenAI.Responses.Response) {
  return {
    status,
    reason: details?.reason,
    items: output.filter(hasSomething).map((item) => {
      switch (item.type) {
        case 'message': {
          const texts = item.content.map((part) => field(part, 'text') ?? field(part, 'refusal'));
          return ['message', texts.join(''), item.content.flatMap(citations)];
        }
        case 'reasoning':
          return ['reasoning', item.summary.map(({ text }) => text).join('\n\n')];
        case 'function_call':
          return [item.type, item.call_id, item.name, item.arguments];
        case 'custom_tool_call':
          return [item.type, item.call_id, item.name, item.input];
        default:
          return [item.type];
      }
    }),
    usage: [usage?.input_tokens, usage?.output_tokens, usage?.total_tokens],
    details: [
      usage?.input_tokens_details.cached_tokens,
      usage?.output_tokens_details.reasoning_tokens,
    ],
  };
}

/** What each citation says of which words. */
function citations(part: OpenAI.Responses.ResponseOutputMessage['content'][number]): Fields[] {
  if (part.type !== 'output_text') return [];
  return part.annotations.flatMap((annotation) => {
    if (annotation.type !== 'url_citation') return [];
    const { start_index: start, end_index: end, ...rest } = annotation;
    return { ...rest, words: part.text.slice(start, end) };
  });
}

function hasSomething(item: OpenAI.Responses.ResponseOutputItem): boolean {
  return item.type !== 'reasoning' || item.summary.length > 0;
}

const names = Object.keys(ANSWERS);
const slug = (name: string): string => name.replaceAll(' ', '-');
let upstream: Upstream | undefined;
let gateway: Gateway | undefined;
let direct: OpenAI;
let through: OpenAI;
closeAtEnd(() => [upstream, gateway]);

beforeAll(async () => {
  const replays = Object.entries(ANSWERS).map(([name, answer]): [string, Behaviour] => [
    slug(name),
    (exchange) => sendText(exchange, streamOf(...(answer as [readonly Fields[], string?]))),
  ]);
  upstream = await startUpstream(Object.fromEntries(replays));
  gateway = await startGateway({
    catalog: catalogFor(upstream, names.map(slug), {
      ...{ dialect: 'responses', upstream: { profile: 'openai-6' } },
      plans: { roomy: ROOMY_PLAN },
    }),
  });
  const { url, key } = await gateway.createAccount({ plan: 'roomy' });
  direct = new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'sk-test', maxRetries: 0 });
  through = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
});
test.each(names)('%s', async (name) => {
  const ask = async (client: OpenAI) => {
    const stream = client.responses.stream({
      ...{ model: slug(name), input: 'Hello?', reasoning: { summary: 'auto' } },
      tools: [
        { type: 'function', name: 'get_weather', parameters: { type: 'object' }, strict: null },
        { type: 'custom', name: 'apply_patch' },
      ],
    });
    return seen(await stream.finalResponse());
  };
  expect(await ask(through)).toEqual(await ask(direct));
});
