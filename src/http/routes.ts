// What is served where: the paths, their methods, and the envelope in which errors are told.

import { chatFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { messagesFormat } from '../wire/messages/format.ts';

/**
 * What answers by itself, in the order of the description of the API. `:model` stands for one path
 * segment. Pages, which are mounted below a path, are not here.
 */
export const ROUTES = [
  { name: 'chat_completions', method: 'POST', path: '/v1/chat/completions' },
  { name: 'messages', method: 'POST', path: '/v1/messages' },
  { name: 'count_tokens', method: 'POST', path: '/v1/messages/count_tokens' },
  { name: 'models', method: 'GET', path: '/v1/models' },
  { name: 'model', method: 'GET', path: '/v1/models/:model' },
  { name: 'api_keys', method: 'GET', path: '/v1/api-keys' },
  { name: 'account', method: 'GET', path: '/v1/account' },
  { name: 'health', method: 'GET', path: '/healthz' },
  { name: 'ready', method: 'GET', path: '/readyz' },
  { name: 'openapi', method: 'GET', path: '/openapi.json' },
  { name: 'service', method: 'GET', path: '/' },
  { name: 'service_head', method: 'HEAD', path: '/' },
  // For the operator alone, and so not in the description.
  { name: 'metrics', method: 'GET', path: '/metrics' },
] as const;

export type ApiRoute = (typeof ROUTES)[number]['name'];

/** Paths with their methods, for 405 answers. */
const METHODS = [...Map.groupBy(ROUTES, ({ path }) => path)].map(([path, routes]) => ({
  path: new RegExp(`^${path.replace(':model', '[^/]+').replaceAll('.', '\\.')}$`),
  allow: routes.map(({ method }) => method).join(', '),
}));

/** The methods of a path that exists; `undefined` where nothing does. */
export function allowedMethods(path: string): string | undefined {
  return METHODS.find((route) => route.path.test(path))?.allow;
}

/** Key management by an API key is refused as such, whatever the exact path or method. */
export function isKeyManagement(path: string, method: string): boolean {
  return /^\/v1\/api-keys(\/|$)/.test(path) && method !== 'GET' && method !== 'HEAD';
}

/**
 * What clients of both formats look for and what is not offered, each with what to use. The path of a
 * client whose base URL lacks `/v1` counts too.
 */
const NOT_OFFERED: readonly { readonly path: RegExp; readonly text: string }[] = [
  {
    path: /^(?:\/v1)?\/(?:responses|conversations|realtime)(?:\/|$)/,
    text: 'The Responses format is not offered, over HTTP or WebSocket. Use chat completions (POST /v1/chat/completions) or Messages (POST /v1/messages); most clients have a setting for it.',
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

/** Why a path of the formats' vendors is not here; `undefined` for any other. */
export function notOffered(path: string): string | undefined {
  return NOT_OFFERED.find((each) => each.path.test(path))?.text;
}

/** Messages clients append `/v1/messages` to whatever base URL they were given. */
export function formatOfPath(path: string): ClientFormat {
  return path.includes('/messages') ? messagesFormat : chatFormat;
}
