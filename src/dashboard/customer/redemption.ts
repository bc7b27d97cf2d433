// Adds balance to the signed-in user's account: redeems a code, or leads to the operator's checkout.
// Rate-limits guessing by account and network, like sign-in.
// Codes with a typing error are rejected first and do not count.

import { Type } from '@sinclair/typebox';
import { createId } from '../../core/id.ts';
import { formatTokens, formatUsd } from '../../core/money.ts';
import { readRedemptionCode } from '../../core/redemption-code.ts';
import { authorOf } from '../../identity/audit.ts';
import { createThrottle } from '../../identity/sign-in/throttle.ts';
import { codeDigest } from '../../ledger/codes.ts';
import { invalidRequest, notFound } from '../edge/error.ts';
import { type CustomerRoutes, sessionRoute } from '../edge/route.ts';
import type { RedeemedRecord } from '../records/customer-ledger.ts';
import type { OwnDependencies } from './account.ts';

const REFUSED = {
  unknown: 'Unknown code. Check that you copied all of it.',
  used: 'This code was already redeemed.',
  expired: 'This code has expired. Ask its sender for another one.',
  revoked: 'This code was revoked. Contact its sender.',
} as const;

export function redemptionRoutes({
  store,
  topUps,
  serviceState,
  clock,
  randomBytes,
}: OwnDependencies): CustomerRoutes {
  const throttle = createThrottle({ database: store.database, clock });

  return [
    sessionRoute({
      method: 'GET',
      path: '/checkout',
      handle({ who: { accountId } }): Response {
        const { topUpUrl } = serviceState().catalog.service;
        if (topUpUrl === undefined) throw notFound('page');
        const url = new URL(topUpUrl);
        url.searchParams.set('account', accountId);
        url.searchParams.set('reference', topUps.issue(accountId));
        return new Response(null, { status: 303, headers: { location: url.href } });
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/redemption',
      body: { code: Type.String({ minLength: 1, maxLength: 100 }) },
      async handle({ who: { accountId }, body, address, actor }): Promise<RedeemedRecord> {
        const code = readRedemptionCode(body.code);
        if (code === undefined) {
          throw invalidRequest('Invalid code: a character is wrong or missing.', 'code');
        }
        const attempt = await throttle.enter({
          realm: 'customer',
          kind: 'redemption',
          name: accountId,
          address,
        });
        const digest = codeDigest(code);
        const by = authorOf(actor, createId('op_', randomBytes));
        const redeemed = store.ledger.redeem({ digest, accountId, by, nowMs: clock() });
        const result = await attempt.checked(redeemed);
        if (result.kind === 'refused') throw invalidRequest(REFUSED[result.why], 'code');
        await attempt.succeeded();
        return {
          amount: formatTokens(result.amount),
          amount_usd: formatUsd(result.amount, serviceState().catalog.usdPerMillion),
          available: formatTokens(result.available),
        };
      },
    }),
  ];
}
