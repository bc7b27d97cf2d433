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
    call: { operator: { incidentOf: () => undefined } },
    ...{ facts: {}, request: {}, catalog: {}, plan: {}, model: {} },
  };
  const sized = sizePrompt(...([dependencies, asked] as unknown as Parameters<typeof sizePrompt>));
  await expect(sized).rejects.toMatchObject({ code, limits: VIEW });
  expect(kept).toEqual([expected]);
});
