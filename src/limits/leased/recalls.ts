// Recalls permits that other holders keep unused: a message asks for them, and another one says that
// a holder has returned its own. A lost message costs one refusal at most, never an admission above a
// limit, because permits move through the script alone.

import type { Redis } from '../../store/redis/client.ts';

/** How long a request waits for an answer: a holder that lives returns its permits in milliseconds. */
const RECALL_MS = 100;

export type RecallsDependencies = {
  readonly redis: Pick<Redis, 'publish' | 'subscribe'>;
  readonly channel: string;
  readonly holder: string;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Reports what this holder uses of an account, and keeps nothing beyond it. */
  readonly giveUp: (accountId: string) => Promise<void>;
};

export function createRecalls(dependencies: RecallsDependencies) {
  const { redis, channel, holder, sleep, giveUp } = dependencies;
  /** By account; shared by all requests that wait. */
  const recalls = new Map<string, PromiseWithResolvers<void>>();

  function send(kind: 'wanted' | 'returned', accountId: string): void {
    redis.publish(channel, `${kind} ${holder} ${accountId}`).catch(() => {});
  }

  function end(accountId: string): void {
    recalls.get(accountId)?.resolve();
    recalls.delete(accountId);
  }

  function receive(message: string): void {
    const [kind, from, accountId = ''] = message.split(' ');
    if (from === holder) return;
    if (kind === 'returned') end(accountId);
    else void giveUp(accountId).then(() => send('returned', accountId));
  }

  const stop = redis.subscribe(channel, receive, () => {});

  return {
    stop,
    /** Resolves when another holder has returned what it did not use. */
    async recall(accountId: string): Promise<void> {
      const pending = recalls.get(accountId);
      if (pending !== undefined) return pending.promise;
      const recall = Promise.withResolvers<void>();
      recalls.set(accountId, recall);
      send('wanted', accountId);
      void sleep(RECALL_MS).then(() => {
        if (recalls.get(accountId) === recall) end(accountId);
      });
      await recall.promise;
    },
  };
}
