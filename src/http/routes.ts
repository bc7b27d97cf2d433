// The served paths, their methods, and the envelope of their errors.

import { chatFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { messagesFormat } from '../wire/messages/format.ts';
import { responsesFormat } from '../wire/responses/format.ts';

/**
 * What answers by itself, in the order of the description of the API. `:model` stands for the rest
 * of the path, because some clients send the slash of an alias as it is. Pages, which are mounted
 * below a path, are not here.
 */
export const ROUTES = [
  { name: 'chat_completions', method: 'POST', path: '/v1/chat/completions' },
  { name: 'messages', method: 'POST', path: '/v1/messages' },
  { name: 'count_tokens', method: 'POST', path: '/v1/messages/count_tokens' },
  { name: 'responses', method: 'POST', path: '/v1/responses' },
  { name: 'input_tokens', method: 'POST', path: '/v1/responses/input_tokens' },
  { name: 'models', method: 'GET', path: '/v1/models' },
  { name: 'model', method: 'GET', path: '/v1/models/:model' },
  { name: 'api_keys', method: 'GET', path: '/v1/api-keys' },
  { name: 'account', method: 'GET', path: '/v1/account' },
  { name: 'receipt', method: 'GET', path: '/v1/receipts/:request_id' },
  { name: 'health', method: 'GET', path: '/healthz' },
  { name: 'ready', method: 'GET', path: '/readyz' },
  { name: 'openapi', method: 'GET', path: '/openapi.json' },
  { name: 'service', method: 'GET', path: '/' },
  { name: 'service_head', method: 'HEAD', path: '/' },
  // For the operator alone, and so not in the description.
  { name: 'metrics', method: 'GET', path: '/metrics' },
] as const;

export type ApiRoute = (typeof ROUTES)[number]['name'];

/** The routes that are served. The operator may leave the Responses format out. */
export function servedRoutes(offersResponses: boolean): readonly (typeof ROUTES)[number][] {
  return offersResponses ? ROUTES : ROUTES.filter(({ path }) => !isResponses(path));
}

function isResponses(path: string): boolean {
  return /^\/v1\/responses(?:\/|$)/.test(path);
}

/** Paths with their methods, for 405 answers. */
const METHODS = [...Map.groupBy(ROUTES, ({ path }) => path)].map(([path, routes]) => ({
  path: new RegExp(
    `^${path.replaceAll('.', '\\.').replace(':model', '.+').replace(/:\w+/, '[^/]+')}$`,
  ),
  allow: routes.map(({ method }) => method).join(', '),
}));

/** The methods of a path; `undefined` for an unknown path. */
export function allowedMethods(path: string, offersResponses: boolean): string | undefined {
  if (!offersResponses && isResponses(path)) return undefined;
  return METHODS.find((route) => route.path.test(path))?.allow;
}

/** Key management with an API key is always refused as such, for any path and method below it. */
export function isKeyManagement(path: string, method: string): boolean {
  return /^\/v1\/api-keys(\/|$)/.test(path) && method !== 'GET' && method !== 'HEAD';
}

const RESPONSES_PATHS = /^(?:\/v1)?\/(?:responses|conversations|realtime)(?:\/|$)/;
const RESPONSES_OFF =
  'The Responses format is not offered, over HTTP or WebSocket. Use chat completions (POST /v1/chat/completions) or Messages (POST /v1/messages); most clients have a setting for it.';

const NOT_KEPT =
  'Responses are not kept here: none can be fetched, continued, cancelled, compacted or deleted. Send the whole conversation to POST /v1/responses.';

/**
 * Endpoints of the formats that are not offered, each with what to use instead. Also matches paths
 * of clients whose base URL lacks `/v1`.
 */
const NOT_OFFERED: readonly { readonly path: RegExp; readonly text: string }[] = [
  {
    path: /^(?:\/v1)?\/(?:conversations|realtime)(?:\/|$)/,
    text: 'Conversations are not kept here, and there are no realtime sessions. Send the whole conversation with each request.',
  },
  {
    path: /^(?:\/v1)?\/comple(?:te|tions)(?:\/|$)/,
    text: 'Completions of bare prompts are not offered. Use chat completions (POST /v1/chat/completions) or Messages (POST /v1/messages).',
  },
  {
    path: /^\/v1\/messages\/batches(?:\/|$)|^(?:\/v1)?\/batches(?:\/|$)/,
    text: 'Batches are not offered. Send each request by itself.',
  },
  {
    path: /^(?:\/v1)?\/(?:embeddings|images|audio|videos|files|uploads|moderations|fine_tuning|vector_stores|assistants|threads)(?:\/|$)/,
    text: 'This service generates text: embeddings, images, audio, files and the like are not offered. Use POST /v1/chat/completions or POST /v1/messages.',
  },
];

/** Why an endpoint of the formats' vendors is missing; `undefined` for any other path. */
export function notOffered(path: string, offersResponses: boolean): string | undefined {
  if (!offersResponses && RESPONSES_PATHS.test(path)) return RESPONSES_OFF;
  if (isResponses(path)) return NOT_KEPT;
  return NOT_OFFERED.find((each) => each.path.test(path))?.text;
}

/** Clients append the path of their format to any base URL they are given. */
export function formatOfPath(path: string): ClientFormat {
  if (path.includes('/messages')) return messagesFormat;
  return path.includes('/responses') ? responsesFormat : chatFormat;
}
