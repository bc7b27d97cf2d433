// What a request costs of its minute when it is refused before its prompt is counted.

import { expect, test } from 'bun:test';
import { type ErrorCode, GatewayError } from '../../src/core/error.ts';
import type { LimitView } from '../../src/core/plan.ts';
import { sizePrompt } from '../../src/generate/size.ts';

const VIEW: LimitView = {
  ...{ limitRequests: 10, remainingRequests: 9, resetRequestsSeconds: 60 },
  ...{ limitTokens: 1_000, remainingTokens: 900 },
};

test.each<[ErrorCode, 'request' | undefined]>([
  ['insufficient_balance', 'request'],
  ['rate_limit_exceeded', 'request'],
  ['provider_unavailable', undefined],
])('%s uses of the minute: %p', async (code, expected) => {
  const kept: unknown[] = [];
  const claim = {
    cancel(keeps?: 'request') {
      kept.push(keeps);
      return VIEW;
    },
  };
  const dependencies = {
    funds: { require: () => Promise.reject(new GatewayError(code)) },
    limits: { claim: () => ({ kind: 'claimed', claim }) },
  };
  const asked = {
    call: { serviceState: { incidentOf: () => undefined } },
    ...{ facts: {}, request: {}, catalog: {}, plan: {}, model: {} },
  };
  const sized = sizePrompt(...([dependencies, asked] as unknown as Parameters<typeof sizePrompt>));
  await expect(sized).rejects.toMatchObject({ code, limits: VIEW });
  expect(kept).toEqual([expected]);
});

const CALL = { id: 'call_0123456789abcdefghij', name: 'f', arguments: '{}' };

test.each([true, false])('earlier thinking is looked up behind the balance: %p', async (isPaid) => {
  let looks = 0;
  const refused = new GatewayError('insufficient_balance');
  const profile = { dialect: 'messages', thinkingHistory: 'any' };
  const dependencies = {
    funds: { require: () => (isPaid ? Promise.resolve() : Promise.reject(refused)) },
    limits: { claim: () => ({ kind: 'claimed', claim: { cancel: () => VIEW } }) },
    tokenizer: { counterFor: () => (text: string) => text.length },
    reasoning: {
      find() {
        looks += 1;
        return Promise.resolve({ reasoning: 'Hm.' });
      },
    },
  };
  const turn = { role: 'assistant', reasoning: '', text: '', toolCalls: [CALL] };
  const asked = {
    call: { serviceState: { incidentOf: () => undefined } },
    facts: { accountId: 'acct_a' },
    request: { system: '', turns: [turn], stop: [], tools: [] },
    catalog: { upstreams: new Map([['up', { dialect: 'messages', profile }]]) },
    plan: {},
    model: {
      fallbacks: [],
      features: new Set(['reasoning']),
      servedBy: [{ upstream: 'up', profile }],
    },
  };
  const sized = sizePrompt(...([dependencies, asked] as unknown as Parameters<typeof sizePrompt>));
  if (isPaid) {
    const turns = [{ ...turn, reasoning: 'Hm.' }];
    expect(await sized).toMatchObject({ asked: { request: { turns } } });
  } else await expect(sized).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect(looks).toBe(isPaid ? 1 : 0);
});
