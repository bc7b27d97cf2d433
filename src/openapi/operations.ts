// What each route of the API takes and gives. The routes are those of src/http/routes.ts: a route
// without a description, or a description without a route, does not compile.

import { type TSchema, Type } from '@sinclair/typebox';
import type { ClientFormatName } from '../core/admit.ts';
import type { ErrorCode } from '../core/error.ts';
import type { ApiRoute } from '../http/routes.ts';
import { chatBody } from '../wire/chat/request.ts';
import { countBody, messagesBody } from '../wire/messages/request.ts';
import { inputTokensBody, responsesBody } from '../wire/responses/request.ts';
import { account, chatCompletion, message, model, modelList, tokenCount } from './answers.ts';
import { GENERATION_CODES, KEY_CODES, PROMPT_CODES } from './errors.ts';
import { chatEvents, messagesEvents } from './events.ts';
import { CHAT_FIELDS, MESSAGES_FIELDS, RESPONSES_FIELDS } from './fields.ts';
import { type AnswerHeaders, ETAG, GENERATED, REQUEST_ID } from './headers.ts';
import { apiKeyList } from './key-answers.ts';
import { health, readiness, service } from './probes.ts';
import { receipt } from './receipt-answer.ts';
import { inputTokens, response, responsesEvents } from './responses.ts';

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: TSchema;
};

export type OperationRecord = {
  readonly summary: string;
  readonly description: string;
  /** Whose envelope its errors have. */
  readonly format: ClientFormatName;
  readonly needsKey: boolean;
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly schema: TSchema; readonly texts: Readonly<Record<string, string>> };
  /** Absent where the answer has no body. */
  readonly answer?: TSchema;
  readonly events?: readonly TSchema[];
  readonly headers: AnswerHeaders;
  /** Another status than 200 that is no error, and what differs there. */
  readonly other?: { readonly status: number; readonly answer: object };
  readonly codes: readonly ErrorCode[];
  readonly example?: object;
};

const PROMPT = [{ role: 'user', content: 'Hello!' }];

const generation = {
  needsKey: true,
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'A name of your choice for this request. A repeat with the same name and body within 24 hours gets the same answer and is not charged.',
      schema: Type.String({ minLength: 1, maxLength: 255 }),
    },
  ],
  headers: GENERATED,
  codes: GENERATION_CODES,
} as const;

const LOOK_CODES = [...KEY_CODES, 'rate_limit_exceeded'] as const;
const reading = { format: 'chat', needsKey: true, headers: REQUEST_ID, codes: LOOK_CODES } as const;
const open = { format: 'chat', needsKey: false, headers: {}, codes: [] } as const;

export type PublicRoute = Exclude<ApiRoute, 'metrics'>;

export const OPERATIONS: Readonly<Record<PublicRoute, OperationRecord>> = {
  chat_completions: {
    ...generation,
    format: 'chat',
    summary: 'Create a chat completion',
    description: 'Generates one answer in the chat-completions format.',
    body: { schema: chatBody, texts: CHAT_FIELDS },
    answer: chatCompletion,
    events: chatEvents,
    example: { model: 'demo-chat', messages: PROMPT },
  },
  messages: {
    ...generation,
    format: 'messages',
    summary: 'Create a message',
    description: 'Generates one answer in the Messages format.',
    body: { schema: messagesBody, texts: MESSAGES_FIELDS },
    answer: message,
    events: messagesEvents,
    example: { model: 'demo-chat', max_tokens: 256, messages: PROMPT },
  },
  count_tokens: {
    format: 'messages',
    needsKey: true,
    summary: 'Count the tokens of a prompt',
    description: 'Estimates the prompt as a request would reserve it. The call is free.',
    body: { schema: countBody, texts: MESSAGES_FIELDS },
    answer: tokenCount,
    headers: REQUEST_ID,
    codes: [...KEY_CODES, ...PROMPT_CODES],
    example: { model: 'demo-chat', messages: PROMPT },
  },
  responses: {
    ...generation,
    format: 'responses',
    summary: 'Create a response',
    description: 'Generates one answer in the Responses format. Nothing of it is kept.',
    body: { schema: responsesBody, texts: RESPONSES_FIELDS },
    answer: response,
    events: responsesEvents,
    example: { model: 'demo-chat', input: 'Hello!' },
  },
  input_tokens: {
    format: 'responses',
    needsKey: true,
    summary: 'Count the tokens of an input',
    description: 'Estimates the input as a request would reserve it. The call is free.',
    body: { schema: inputTokensBody, texts: RESPONSES_FIELDS },
    answer: inputTokens,
    headers: REQUEST_ID,
    codes: [...KEY_CODES, ...PROMPT_CODES],
    example: { model: 'demo-chat', input: 'Hello!' },
  },
  models: {
    ...reading,
    summary: 'List models',
    description: 'Lists the models of this service with their prices. All of them by default.',
    parameters: [
      {
        name: 'limit',
        in: 'query',
        description: 'How many models to list.',
        schema: Type.Integer({ minimum: 1, maximum: 1_000 }),
      },
      {
        name: 'after_id',
        in: 'query',
        description: 'Lists the models behind this one.',
        schema: Type.String(),
      },
      {
        name: 'before_id',
        in: 'query',
        description: 'Lists the models before this one.',
        schema: Type.String(),
      },
    ],
    answer: modelList,
    codes: [...LOOK_CODES, 'invalid_request'],
  },
  model: {
    ...reading,
    summary: 'Get a model',
    description: 'Returns one model.',
    parameters: [
      {
        name: 'model',
        in: 'path',
        description: 'A slug or alias.',
        schema: Type.String({ minLength: 1, examples: ['demo-chat'] }),
      },
    ],
    answer: model,
    codes: [...LOOK_CODES, 'model_not_found'],
  },
  api_keys: {
    ...reading,
    summary: 'List API keys',
    description:
      'Lists the active keys of the account and its newest others, at most 60 times a minute. Create, rotate and revoke them in the dashboard.',
    answer: apiKeyList,
  },
  account: {
    ...reading,
    summary: 'Get the account',
    description: 'Returns plan, balance, limits and what is used of them now.',
    answer: account,
  },
  receipt: {
    ...reading,
    summary: 'Get the bill of a request',
    description:
      'Returns what a request of the account has cost, whichever of its keys sent it. Free. Status 404 for rejected requests, archived ones and those of other accounts.',
    parameters: [
      {
        name: 'request_id',
        in: 'path',
        description: 'The `x-request-id` of the answer.',
        schema: Type.String({ minLength: 1, examples: ['req_019acb0a8f1f4c6f9d3e2b71a05c48d6'] }),
      },
    ],
    answer: receipt,
    codes: [...LOOK_CODES, 'not_found'],
  },
  health: {
    ...open,
    summary: 'Check that the process runs',
    description: 'Answers as long as the process runs.',
    answer: health,
  },
  ready: {
    ...open,
    summary: 'Check that the server takes requests',
    description: 'Status 503 and `not_ready` where requests should go elsewhere.',
    answer: readiness,
    other: { status: 503, answer: { description: 'Not ready.' } },
    codes: ['misdirected_request'],
  },
  openapi: {
    ...open,
    summary: 'Get this description',
    description: 'Returns this document.',
    answer: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
    headers: ETAG,
    other: { status: 304, answer: { description: 'Not modified.', content: undefined } },
  },
  service: {
    ...open,
    summary: 'Identify the service',
    description: 'Names the service, its version and its documentation.',
    answer: service,
  },
  service_head: {
    ...open,
    summary: 'Check that the service answers',
    description: 'The same without a body.',
  },
};
