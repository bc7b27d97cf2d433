// The body of a write to the dashboard: its size, its deadline, and how it is put together.

import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { readJson } from '../../../src/dashboard/edge/body.ts';
import { DashboardError } from '../../../src/dashboard/edge/error.ts';
import { type GuardDependencies, runRoute } from '../../../src/dashboard/edge/guard.ts';
import { publicRoute, type Route, sessionRoute } from '../../../src/dashboard/edge/route.ts';
import { type SessionDependencies, sessionDoor } from '../../../src/dashboard/edge/sessions.ts';
import type { SignedInCustomer } from '../../../src/identity/signed-in.ts';

const ORIGIN = 'http://gateway.test';
const encoder = new TextEncoder();

function requestOf(body: string | ReadableStream<Uint8Array>): Request {
  return new Request(`${ORIGIN}/dashboard/api/write`, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'application/json' },
    body,
  });
}

/** A sender of these pieces that never ends the body. */
function stalled(pieces: readonly string[]) {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
    },
    cancel: () => resolve(),
  });
  return { body, cancelled };
}

const NOW = 1_800_000_000_000;
const guard: GuardDependencies<SignedInCustomer> & SessionDependencies<SignedInCustomer> = {
  session: async () => ({
    ...{ realm: 'customer', accountId: 'acct_1', userId: 'user_1', sessionId: 'session_1' },
    ...{ email: 'a@example.com', twoFactor: false, provenAt: NOW, expiresAt: NOW },
  }),
  isOpen: async () => true,
  standing: async () => undefined,
  address: () => '203.0.113.7',
  origin: ORIGIN,
  isHttps: () => false,
  clock: () => NOW,
  randomBytes,
  onChange: () => undefined,
  onInternal(_requestId, error) {
    throw error;
  },
};

const door = sessionDoor(guard);

const shape = {
  method: 'POST',
  path: '/write',
  body: { text: Type.String() },
  handle: () => ({ ran: true }),
} as const;

/** A body of this many bytes. */
const sized = (bytes: number): string => JSON.stringify({ text: 'x'.repeat(bytes - 11) });

async function statusOf(
  route: Route<SignedInCustomer> | Route<undefined>,
  bytes: number,
): Promise<number> {
  return (await runRoute(guard, door, route, requestOf(sized(bytes)), null, {})).status;
}

test('values that take far more memory than their text are refused before they are made', async () => {
  const heavy = `[${Array(101).fill('{"999":0}').join()}]`;
  await expect(readJson(requestOf(heavy))).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(readJson(requestOf('['.repeat(5_000)))).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

test('a route without a session accepts 8 KiB, others 256 KiB or what they say', async () => {
  const visitors = publicRoute(shape);
  const users = sessionRoute<SignedInCustomer, typeof shape.body>(shape);
  expect(await statusOf(visitors, 8_192)).toBe(200);
  expect(await statusOf(visitors, 8_193)).toBe(413);
  expect(await statusOf(users, 262_144)).toBe(200);
  expect(await statusOf(users, 262_145)).toBe(413);
  const texts = sessionRoute<SignedInCustomer, typeof shape.body>({
    ...shape,
    bodyBytesMax: 300_000,
  });
  expect(await statusOf(texts, 300_000)).toBe(200);
  expect(await statusOf(texts, 300_001)).toBe(413);
});

test('a body above the limit is rejected before its end, also without a declared length', async () => {
  const { body, cancelled } = stalled(Array(9).fill('x'.repeat(1_000)));
  await expect(readJson(requestOf(body), { bytesMax: 8_192 })).rejects.toMatchObject({
    code: 'payload_too_large',
  });
  await cancelled;
});

test('a body that does not end within the deadline is rejected and no longer read', async () => {
  const { body, cancelled } = stalled(['{"text":']);
  await expect(readJson(requestOf(body), { deadlineMs: 20 })).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'The request body did not arrive within 0.02 seconds. Send it again.',
  });
  await cancelled;
});

test('a change above the limit is rejected before its body has arrived', async () => {
  const limited: GuardDependencies<SignedInCustomer> = {
    ...guard,
    limitChanges() {
      throw new DashboardError('too_many_attempts', 'Too many.', { retryAfterSeconds: 60 });
    },
  };
  const users = sessionRoute<SignedInCustomer, typeof shape.body>(shape);
  const { body } = stalled(['{"text":']);
  expect((await runRoute(limited, door, users, requestOf(body), null, {})).status).toBe(429);
});

test('a body that breaks off is an invalid request', async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('The connection was closed.')),
  });
  await expect(readJson(requestOf(body))).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'The request body broke off. Send it again.',
  });
});

test('a body of single bytes is put together', async () => {
  const text = sized(9_000);
  const bytes = encoder.encode(text);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(sent, sent + 1));
      sent += 1;
    },
  });
  expect(await readJson(requestOf(body))).toEqual(JSON.parse(text));
});

test('a body of nothing is an empty object', async () => {
  expect(await readJson(requestOf(''))).toEqual({});
});
