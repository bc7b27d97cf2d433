// Refuses accounts without a balance before their prompts are counted: counting costs time that such
// an account does not pay for. Whether money covers a request is decided by its hold alone.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import { formatTokens, type Micro } from '../core/money.ts';
import type { Books } from '../ledger/books.ts';

/** Above this many accounts all are forgotten, and looked up again. */
const ACCOUNTS_MAX = 20_000;

export type Funds = ReturnType<typeof createFunds>;

export function createFunds({ balance }: Pick<Books, 'balance'>) {
  /** Accounts that had a balance when the books were read, and were not doubted since. */
  const funded = new Set<string>();

  async function lookUp(accountId: string, minimum: Micro): Promise<void> {
    const { posted, available } = await balance(accountId).catch(() => {
      throw new GatewayError('provider_unavailable', {
        message: 'The service cannot read balances at the moment. Retry with back-off.',
      });
    });
    if (posted < minimum) {
      throw new GatewayError('insufficient_balance', {
        message: `The available balance is ${formatTokens(available)} service tokens, and this request has to reserve at least ${formatTokens(minimum)}. Top up the account.`,
      });
    }
    if (funded.size >= ACCOUNTS_MAX) funded.clear();
    funded.add(accountId);
  }

  return {
    /**
     * Throws `insufficient_balance` where the whole balance is below `minimum`, which every request
     * has to reserve. Reads the books for an account that is not known to have more, and throws
     * `provider_unavailable` where it cannot.
     */
    require: (accountId: string, minimum: Micro): Awaitable<void> =>
      funded.has(accountId) ? undefined : lookUp(accountId, minimum),
    /** The account has little left, or too little: its next request reads the books. */
    doubt: (accountId: string): void => void funded.delete(accountId),
  };
}
