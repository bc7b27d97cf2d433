// Cases of one answer: content, thinking, efforts, the beginning of an answer, sampling, schemas, images.

import { EFFORTS } from '../../../src/core/effort.ts';
import { type EveryFormat, FORMATS, WITHOUT_THINKING } from '../../support/client.ts';
import { SAYS } from '../stand-ins/script.ts';
import type { Json } from '../stand-ins/server.ts';
import {
  type Case,
  type Cell,
  failureOf,
  must,
  mustRefuseOnce,
  mustSay,
  THINK,
  talk,
} from './case.ts';

const SCHEMA = {
  type: 'object',
  properties: { settlement: { type: 'string' } },
  required: ['settlement'],
  additionalProperties: false,
};

const SCHEMA_OF: Readonly<Record<EveryFormat, Json>> = {
  chat: {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', strict: true, schema: SCHEMA },
    },
  },
  messages: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  responses: {
    text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: SCHEMA } },
  },
};

/** What clients send without a need. */
const USUAL: Readonly<Record<EveryFormat, Json>> = {
  chat: {
    ...{ top_p: 0.9, frequency_penalty: 0.2, presence_penalty: 0.1, n: 1, seed: 7, user: 'u-1' },
    ...{ logprobs: false, store: false, metadata: { run: '1' }, service_tier: 'auto' },
  },
  messages: { top_p: 0.9, top_k: 40, metadata: { user_id: 'u-1' }, service_tier: 'auto' },
  responses: {
    ...{ top_p: 0.9, user: 'u-1', store: false, metadata: { run: '1' }, service_tier: 'auto' },
    ...{ truncation: 'auto', include: ['reasoning.encrypted_content'], text: {} },
  },
};

/** More than some vendors take, and longer. */
const STOPS = [
  '\n\nHuman:',
  '\n\nAssistant:',
  '<|end|>',
  'END OF THE ANSWER OF THE ASSISTANT',
  '###',
];

/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const IMAGE: Readonly<Record<EveryFormat, Json>> = {
  chat: { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
  responses: { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
};

function effortOf(format: EveryFormat, effort: string): Json {
  if (format === 'chat') return { reasoning_effort: effort };
  if (format === 'responses') return { reasoning: { effort, summary: 'auto' } };
  const thinking = effort === 'none' ? {} : { thinking: { type: 'adaptive' } };
  return { ...thinking, output_config: { effort } };
}

async function showsThinking(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    const reply = await talk(cell, 'Think.').send({ stream, more: THINK[cell.format] });
    mustSay(reply, SAYS.text);
    const { reasoning } = reply.said;
    const form = stream ? 'streamed' : 'whole';
    must(/^Let me think \d{8}$/.test(reasoning.trim()), `${form}: it shows "${reasoning}"`);
  }
}

/** A model without vision rejects the image: the gateway at once, or the vendor when it is asked. */
async function takesImage(cell: Cell): Promise<void> {
  const { format, mark, row } = cell;
  const type = format === 'responses' ? 'input_text' : 'text';
  const text = { type, text: `${mark} What is this?` };
  const sent = talk(cell, 'Look at this.').user([text, IMAGE[format]]).send();
  if (row.vision) {
    mustSay(await sent, SAYS.text);
    must(cell.seen().at(-1)?.images === 1, 'the model saw no image');
    return;
  }
  const error = await failureOf(sent);
  must(error?.status === 400, `an image answers ${error?.message ?? 200}`);
  if (cell.seen().length > 0) mustRefuseOnce(cell);
  else must(/^(messages|input)/.test(String(error.error['param'])), 'the refusal names no field');
}

export const ANSWERS: readonly Case[] = [
  {
    name: 'plain',
    run: async (cell) => mustSay(await talk(cell, 'Greet.').send(), SAYS.text),
  },
  {
    name: 'stream',
    run: async (cell) => mustSay(await talk(cell, 'Greet.').send({ stream: true }), SAYS.text),
  },
  { name: 'thinking shown', applies: (row) => row.shows, run: showsThinking },
  {
    name: 'thinking off',
    run: async (cell) => {
      const reply = await talk(cell, 'Greet.').send({ more: WITHOUT_THINKING[cell.format] });
      mustSay(reply, SAYS.text);
      must(!cell.row.off || cell.seen()[0]?.thought === false, 'the model thinks');
    },
  },
  ...EFFORTS.map((effort) => ({
    name: `effort ${effort}`,
    run: async (cell: Cell) => {
      mustSay(await talk(cell, 'Greet.').send({ more: effortOf(cell.format, effort) }), SAYS.text);
    },
  })),
  {
    name: 'prefill',
    run: async (cell) => {
      const reply = await talk(cell, 'Which one?').begin(SAYS.beginning).send();
      mustSay(reply, SAYS.continued);
    },
  },
  {
    name: 'temperature 0.7',
    run: async (cell) => {
      mustSay(await talk(cell, 'Greet.').send({ more: { temperature: 0.7 } }), SAYS.text);
    },
  },
  {
    name: 'usual members',
    run: async (cell) => {
      mustSay(await talk(cell, 'Greet.').send({ more: USUAL[cell.format] }), SAYS.text);
    },
  },
  {
    name: 'stop sequences',
    // Responses has none.
    formats: FORMATS,
    run: async (cell) => {
      const name = cell.format === 'chat' ? 'stop' : 'stop_sequences';
      mustSay(await talk(cell, 'Greet.').send({ more: { [name]: STOPS } }), SAYS.text);
    },
  },
  {
    name: 'few tokens',
    run: async (cell) => {
      const field = cell.format === 'responses' ? 'max_output_tokens' : 'max_tokens';
      const reply = await talk(cell, 'Greet.').send({ more: { [field]: 8 } });
      must(SAYS.text.startsWith(reply.said.text), `the answer is ${reply.said.text}`);
    },
  },
  {
    name: 'JSON schema',
    run: async (cell) => {
      const reply = await talk(cell, 'Which town, as JSON?').send({ more: SCHEMA_OF[cell.format] });
      mustSay(reply, SAYS.json);
    },
  },
  { name: 'image', mayRefuse: true, run: takesImage },
];
