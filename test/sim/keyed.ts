// Customers of a simulation who send an `Idempotency-Key`, repeat until there is an end, and then
// once more. The checks are those of a key: one charge, the same bytes, and an end.

import { asc, isNotNull } from 'drizzle-orm';
import { usageRecords } from '../../src/store/money-views.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { messagesFormat } from '../../src/wire/messages/format.ts';
import { Violation } from './checks.ts';
import type { CustomerAccount } from './customer.ts';
import type { FaultCounter } from './faults.ts';
import type { Asking, Gateway } from './gateway.ts';
import type { World } from './world.ts';

/** What came of one try. Without a status its gateway died, or the customer left. */
type Try = {
  readonly status: number | undefined;
  readonly requestId: string | null;
  readonly isReplayed: boolean;
  readonly text: string;
  readonly isComplete: boolean;
};

type KeyStory = { readonly key: string; readonly tries: Try[]; isOver: boolean };

const TRIES_MAX = 60;

export function createKeyedCustomers(
  world: World,
  faults: FaultCounter,
  gateway: () => Gateway | undefined,
) {
  const stories: KeyStory[] = [];
  let asked = 0;

  async function live(account: CustomerAccount): Promise<void> {
    const number = stories.length;
    const story: KeyStory = { key: `key-${number}`, tries: [], isOver: false };
    stories.push(story);
    const format = world.chance(0.5) ? chatFormat : messagesFormat;
    const stream = world.chance(0.7);
    const endUser =
      format === chatFormat ? { user: story.key } : { metadata: { user_id: story.key } };
    const body = JSON.stringify({
      model: world.pick(['first', 'second']),
      // No mark of the other customers has so many digits.
      messages: [{ role: 'user', content: `#${9_000_000 + number}#${'word'.repeat(50)}` }],
      ...{ stream, max_tokens: world.pick([16, 200]), ...endUser },
    });
    const wanted = world.between(2, 4);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const node = gateway();
      if (node !== undefined) {
        asked += 1;
        const leaving = new AbortController();
        if (world.chance(0.2)) world.after(world.between(0, 3_000), () => leaving.abort());
        const requestId = `req_k${String(asked).padStart(8, '0')}`;
        const { id: accountId, plan } = account;
        const asking = { requestId, accountId, plan, format, body, signal: leaving.signal };
        story.tries.push(await once(node, asking, story.key));
      }
      if (story.tries.filter(isFinal).length >= wanted) break;
      await world.sleep(world.between(1, 3_000));
    }
    story.isOver = true;
  }

  async function once(node: Gateway, asking: Asking, key: string): Promise<Try> {
    const answer = await Promise.race([node.askKeyed(asking, key), untilGone(node, asking)]);
    if (answer === undefined) return NOTHING;
    const { status, headers } = answer;
    const isReplayed = headers.get('x-svc-replayed') === 'true';
    if (isReplayed) faults.count('key replayed');
    if (status === 410) faults.count('key lost');
    const text = await Promise.race([
      answer.text().catch(() => undefined),
      untilGone(node, asking),
    ]);
    const isComplete = text !== undefined && node.isAlive() && !asking.signal.aborted;
    const requestId = headers.get('x-request-id');
    return { status, requestId, isReplayed, text: text ?? '', isComplete };
  }

  /** A gateway that was killed says nothing more. */
  function untilGone({ killed }: Gateway, { signal }: Asking): Promise<undefined> {
    const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    return Promise.race([killed, left]).then(() => undefined);
  }

  return { stories, ask: (account: CustomerAccount): void => void live(account) };
}

const NOTHING: Try = {
  ...{ status: undefined, requestId: null, isReplayed: false, text: '', isComplete: false },
};

function isFinal({ status, isComplete }: Try): boolean {
  return isComplete && (status === 200 || status === 410);
}

/** When no request is in progress any more. */
export async function checkKeys(gateway: Gateway, stories: readonly KeyStory[]): Promise<void> {
  const { db } = gateway.database;
  const records = await db
    .select()
    .from(usageRecords)
    .where(isNotNull(usageRecords.endUser))
    .orderBy(asc(usageRecords.number))
    .all();
  const charged = Map.groupBy(
    records.filter(({ charged: amount }) => amount > 0n),
    ({ endUser }) => endUser,
  );
  for (const story of stories) {
    const own = charged.get(story.key) ?? [];
    const fail = (law: string): never => {
      const ids = own.map(({ requestId, startedAt }) => [requestId, startedAt]);
      throw new Violation(`${law}: ${JSON.stringify([story, ids])}`);
    };
    if (!story.isOver) fail('each key has an end');
    if (own.some((row, at) => at > 0 && !isExpired(own[at - 1], row))) {
      fail('a key is charged once a day');
    }
    // A clock that jumps a day makes a key new.
    if (own.length < 2) checkAnswers(story.tries.filter(isFinal), own[0]?.requestId, fail);
  }
}

const EXPIRED_MS = 23 * 3_600_000;

type Started = { readonly startedAt: number };

function isExpired(before: Started | undefined, row: Started): boolean {
  return before !== undefined && Math.abs(row.startedAt - before.startedAt) >= EXPIRED_MS;
}

/** `paid` is the request of the key that was charged. */
function checkAnswers(
  ends: readonly Try[],
  paid: string | undefined,
  fail: (law: string) => never,
): void {
  const answers = ends.filter(({ status, requestId }) => status === 200 && requestId === paid);
  if (answers.some(({ text }) => text !== answers[0]?.text)) fail('a repeat has the same bytes');
  if (paid === undefined && ends.some(({ status }) => status === 410)) {
    fail('what is lost was charged');
  }
}
