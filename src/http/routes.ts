// What is served where: the paths, their methods, and the envelope in which errors are told.

import { chatFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { messagesFormat } from '../wire/messages/format.ts';

/** Paths with their methods, for 405 answers; `:model` stands for one path segment. */
const METHODS: readonly { readonly path: RegExp; readonly allow: string }[] = [
  { path: /^\/v1\/chat\/completions$/, allow: 'POST' },
  { path: /^\/v1\/messages$/, allow: 'POST' },
  { path: /^\/v1\/messages\/count_tokens$/, allow: 'POST' },
  { path: /^\/v1\/models$/, allow: 'GET' },
  { path: /^\/v1\/models\/[^/]+$/, allow: 'GET' },
  { path: /^\/v1\/api-keys$/, allow: 'GET' },
  { path: /^\/v1\/account$/, allow: 'GET' },
  { path: /^\/healthz$/, allow: 'GET' },
  { path: /^\/readyz$/, allow: 'GET' },
  { path: /^\/metrics$/, allow: 'GET' },
  { path: /^\/$/, allow: 'GET, HEAD' },
];

/** The methods of a path that exists; `undefined` where nothing does. */
export function allowedMethods(path: string): string | undefined {
  return METHODS.find((route) => route.path.test(path))?.allow;
}

/** Key management by an API key is refused as such, whatever the exact path or method. */
export function isKeyManagement(path: string, method: string): boolean {
  return /^\/v1\/api-keys(\/|$)/.test(path) && method !== 'GET' && method !== 'HEAD';
}

/** Messages clients append `/v1/messages` to whatever base URL they were given. */
export function formatOfPath(path: string): ClientFormat {
  return path.includes('/messages') ? messagesFormat : chatFormat;
}
