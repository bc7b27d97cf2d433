// How the records of a round can be wrong: one change for each law, applied to correct records. A
// law that does not detect its change is broken.

import type { Books, Story } from './books.ts';
import type { ClientEntry } from './client.ts';
import type { Hold, UsageRecord } from './ledger.ts';
import { type ModelName, WORD } from './setup.ts';
import { type Served, sentWords } from './upstream.ts';

export type Tampering = {
  /** The law that has to break; others may break with it. */
  readonly law: string;
  readonly what: string;
  /** Undefined where these books have no request that is fit for the change. */
  readonly tamper: (books: Books, stories: readonly Story[]) => Books | undefined;
};

function books(law: string, what: string, tamper: (books: Books) => Books): Tampering {
  return { law, what, tamper };
}

/** Changes what the books say of the first request that is fit for it. */
function request(
  law: string,
  what: string,
  fits: (story: Story) => unknown,
  tamper: (books: Books, story: Story) => Books,
): Tampering {
  return {
    law,
    what,
    tamper(all, stories) {
      const story = stories.find(fits);
      return story && tamper(all, story);
    },
  };
}

const isPaid = ({ record, client }: Story) =>
  record?.outcome === 'completed' && record.debited > 0n && client.complete;

const isPaidAndCalm = (story: Story) => isPaid(story) && story.kill === undefined;

const isPaidStream = (story: Story) =>
  isPaid(story) && story.client.drawn.stream && story.served[0]?.reported !== undefined;

const isShortAndCalm = (story: Story) => isPaidAndCalm(story) && story.client.drawn.words < 1_000;

function withLedger(books: Books, change: Partial<Books['ledger']>): Books {
  return { ...books, ledger: { ...books.ledger, ...change } };
}

function withRecord(books: Books, { record }: Story, change: Partial<UsageRecord>): Books {
  const records = books.ledger.records.map((each) =>
    each.requestId === record?.requestId ? { ...each, ...change } : each,
  );
  return withLedger(books, { records });
}

function withHold(books: Books, { mark }: Story, change: Partial<Hold>): Books {
  const holds = books.ledger.holds.map((each) =>
    each.mark === mark ? { ...each, ...change } : each,
  );
  return withLedger(books, { holds });
}

function withUpstream(
  books: Books,
  { mark }: Story,
  change: (served: Books['upstream'][number]) => Books['upstream'],
): Books {
  const upstream = books.upstream.flatMap((each) => (each.mark === mark ? change(each) : each));
  return { ...books, upstream };
}

function withClient(books: Books, { mark }: Story, change: Partial<ClientEntry>): Books {
  const clients = books.clients.map((each) =>
    each.drawn.mark === mark ? { ...each, ...change } : each,
  );
  return { ...books, clients };
}

/** As if the client had heard this, right after it had asked. */
function hearing(books: Books, story: Story, status: number, body: string): Books {
  const bytes = Buffer.from(`HTTP/1.1 ${status} Tampered\r\n\r\n${body}`);
  return withClient(books, story, { received: [{ atMs: story.client.sentAtMs, bytes }] });
}

/** As if the client had left right after it had asked a model, and its upstream had ended so. */
function leaving(books: Books, story: Story, model: ModelName, ended: Served['ended']): Books {
  const { drawn, sentAtMs } = story.client;
  const left = { drawn: { ...drawn, model }, left: { atMs: sentAtMs } };
  return withUpstream(withClient(books, story, left), story, (served) => [
    { ...served, ...(ended === undefined ? {} : { ended }) },
  ]);
}

/** As if the gateway of a paid stream had been killed long after it began, and recovered it. */
function recovered(
  books: Books,
  story: Story,
  change: Partial<UsageRecord>,
  afterMs = 1_000,
): Books {
  const { generation, endedAtMs } = story.client;
  const kill = { generation, trigger: 'now', atMs: endedAtMs + 10_000, backAtMs: 0 } as const;
  const others = books.kills.filter((each) => each.generation !== generation);
  const cutOff = { basis: 'recovered', outcome: 'gateway_failed', ...change };
  const killed = { ...books, kills: [...others, kill] };
  return withHold(withRecord(killed, story, cutOff), story, { endedAtMs: kill.atMs + afterMs });
}

const tokensOf = ({ record }: Story) => record?.outputTokens ?? 0;

export const TAMPERINGS: readonly Tampering[] = [
  books('its own audits find nothing', 'the doctor complains', (all) => ({
    ...all,
    verdicts: [{ command: 'doctor', ok: false, said: 'WRONG' }],
  })),
  books('at rest within 30 s', 'holds stay open', (all) => ({
    ...all,
    quiescentAfterMs: undefined,
  })),
  books('stops with 0', 'it crashes at the end', (all) => ({ ...all, exitCode: 1 })),
  books('credits - debits = posted', 'a credit vanishes', (all) => ({
    ...all,
    accounts: all.accounts.map((account) => ({ ...account, credit: account.credit + 1 })),
  })),
  books('entries = posted', 'an entry is one millionth larger', (all) => {
    const { entries } = all.ledger;
    const at = entries.findIndex(({ ledgerAccount }) => ledgerAccount.startsWith('customer:'));
    return withLedger(all, {
      entries: entries.map((entry, index) =>
        index === at ? { ...entry, amount: entry.amount + 1n } : entry,
      ),
    });
  }),
  books('nothing is held at rest', 'a balance still holds something', (all) =>
    withLedger(all, {
      balances: all.ledger.balances.map((balance) => ({ ...balance, held: 1n })),
    }),
  ),
  books('two legs that sum to zero', 'a leg is missing', (all) =>
    withLedger(all, { entries: all.ledger.entries.slice(1) }),
  ),
  books('never below zero', 'a sample is negative', (all) => ({
    ...all,
    samples: [{ accountId: 'acct', atMs: 0, available: '-0.000001' }],
  })),
  books('a credit is booked once', 'a credit was confirmed and not booked', (all) => ({
    ...all,
    credits: all.credits.map((credit) => ({ ...credit, amount: credit.amount + 1n })),
  })),
  request(
    'one end a hold',
    'the entries say another amount than the record',
    isPaid,
    (all, story) => withRecord(all, story, { debited: 1n, charged: 1n }),
  ),
  request('charged = usage x price', 'one token more was charged', isPaid, (all, story) =>
    withRecord(all, story, { outputTokens: tokensOf(story) + 1 }),
  ),
  request('what was reported is booked', 'an acknowledged debit is lost', isPaid, (all, story) =>
    withRecord(all, story, { debited: 0n }),
  ),
  books('one receipt, with the amount', 'the receipts say nothing', (all) =>
    withLedger(all, { receipts: [] }),
  ),
  books('receipts without gaps', 'a receipt is missing', (all) =>
    withLedger(all, { receipts: all.ledger.receipts.filter(({ sequence }) => sequence !== 2) }),
  ),
  request(
    'what a dead gateway held is ended within 30 s',
    'a recovery comes late',
    isPaidStream,
    (all, story) => recovered(all, story, {}, 31_000),
  ),
  request(
    'recovered only after a kill',
    'a request is recovered beside a server that lives',
    isPaidAndCalm,
    (all, story) => withRecord(all, story, { basis: 'recovered' }),
  ),
  request(
    'recovered within the hold',
    'a recovery takes more than the hold',
    isPaidStream,
    (all, story) => recovered(all, story, { debited: (story.record?.held ?? 0n) + 1n }),
  ),
  request(
    'recovered for nothing before its content',
    'a recovery charges a whole answer',
    (story) => isPaid(story) && !story.client.drawn.stream,
    (all, story) => recovered(all, story, {}),
  ),
  request(
    'recovered at the prompt at least',
    'a recovery gives a delivered answer away',
    isPaidStream,
    (all, story) => recovered(all, story, { debited: 0n }),
  ),
  request(
    'recovered close to what had passed',
    'a recovery charges words that were never said',
    isPaidStream,
    (all, story) => recovered(all, story, { outputTokens: tokensOf(story) + 100 }),
  ),
  request(
    'recovered close to what had passed',
    'a recovery forgets what had passed',
    isPaidStream,
    (all, story) =>
      hearing(recovered(all, story, { outputTokens: 0 }), story, 200, WORD.repeat(1_000)),
  ),
  request(
    'what no upstream saw costs nothing',
    'the upstream knows nothing of a paid request',
    isPaidAndCalm,
    (all, story) => withUpstream(all, story, () => []),
  ),
  request('what an upstream saw has a hold', 'a hold vanishes', isPaid, (all, { mark }) =>
    withLedger(all, { holds: all.ledger.holds.filter((hold) => hold.mark !== mark) }),
  ),
  request('a refusal costs nothing', 'a refusal was charged', isPaid, (all, story) =>
    hearing(all, story, 503, ''),
  ),
  // A busy machine is a reason, too.
  request('refused for a reason', 'a 503, and no upstream had failed', isPaidStream, (all, story) =>
    hearing({ ...all, lags: [] }, story, 503, ''),
  ),
  request('what was delivered is paid', 'an answer was for nothing', isPaidAndCalm, (all, story) =>
    withRecord(all, story, { debited: 0n }),
  ),
  request(
    'a complete answer is what the upstream said',
    'the upstream said one word more',
    isPaidStream,
    (all, story) =>
      withUpstream(all, story, (served) => [
        { ...served, sent: [{ atMs: 0, words: sentWords(served) + 1 }] },
      ]),
  ),
  request(
    'what is thought unseen is paid',
    'thinking was for nothing',
    (story) =>
      isPaid(story) && tokensOf(story) > 30 && (story.served.at(-1)?.reported?.reasoning ?? 0) > 30,
    (all, story) => withRecord(all, story, { outputTokens: 0 }),
  ),
  request(
    'who leaves pays what was produced',
    'who left was charged for words that were never said',
    isPaid,
    (all, story) => withRecord(all, story, { outcome: 'client_cancelled', outputTokens: 100_000 }),
  ),
  request('who leaves stops the upstream', 'the upstream went on', isPaidStream, (all, story) =>
    leaving(all, story, 'swift', { how: 'gone', atMs: story.client.sentAtMs + 60_000 }),
  ),
  request(
    'what is billed to its end is read to its end',
    'the upstream was stopped',
    isShortAndCalm,
    (all, story) => leaving(all, story, 'steady', { how: 'gone', atMs: story.client.sentAtMs + 1 }),
  ),
  request(
    'who runs out of money has paid for each token',
    'unpaid tokens were passed on',
    isPaidStream,
    (all, story) => withRecord(all, story, { outcome: 'stopped_balance', debited: 1n }),
  ),
  request(
    'an outcome has its cause',
    'a gateway failed that was not killed',
    isPaidAndCalm,
    (all, story) => withRecord(all, story, { outcome: 'gateway_failed' }),
  ),
  request('every request ends', 'an answer had no end', isPaidAndCalm, (all, { mark }) => ({
    ...all,
    clients: all.clients.map((client) =>
      client.drawn.mark === mark ? { ...client, complete: false } : client,
    ),
  })),
  books('never above the concurrency limit', 'the plan allowed less', (all) => ({
    ...all,
    accounts: all.accounts.map((account) => ({ ...account, concurrency: 0 })),
    lags: [],
  })),
  books('a burst of the limit is admitted, and no more', 'a slot leaked', (all) => ({
    ...all,
    bursts: all.bursts.map((burst) => ({ ...burst, admitted: burst.admitted - 1 })),
  })),
];
