// The customers of a simulation: they send requests, read or stop reading, leave, and record what
// they received. The checks compare their records with the ledger at the end.

import type { ClientFormatName } from '../../src/core/admit.ts';
import { GatewayError } from '../../src/core/error.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { messagesFormat } from '../../src/wire/messages/format.ts';
import type { FaultCounter } from './faults.ts';
import type { Asking, Gateway } from './gateway.ts';
import type { World } from './world.ts';

/** What a customer remembers of one request. */
export type Received = {
  readonly requestId: string;
  readonly marker: string;
  readonly accountId: string;
  readonly format: ClientFormatName;
  readonly stream: boolean;
  readonly promptCharacters: number;
  readonly maxTokens: number | undefined;
  readonly askedAt: number;
  /** Code of the refusal; absent where there was an answer. */
  refused?: string;
  /** The bill, as decimal strings. */
  bill?: { readonly debited: string; readonly outcome: string | undefined };
  /** Characters of content that arrived. */
  characters: number;
  left: boolean;
  leftAt?: number;
  over: boolean;
};

export type CustomerAccount = { readonly id: string; readonly plan: string };

export type Customers = {
  readonly received: readonly Received[];
  readonly ask: (account: CustomerAccount) => void;
};

type Bill = { svc_tokens_debited?: string; svc_outcome?: string };

/** `gateway` answers undefined while none is alive. */
export function createCustomers(
  world: World,
  faults: FaultCounter,
  gateway: () => Gateway | undefined,
): Customers {
  const received: Received[] = [];

  function ask(account: CustomerAccount): void {
    const node = gateway();
    if (node === undefined) return;
    const number = received.length;
    const marker = `#${number}#`;
    const prompt = `${marker}${'word'.repeat(world.between(1, world.chance(0.2) ? 4_000 : 200))}`;
    const format = world.chance(0.5) ? chatFormat : messagesFormat;
    const maxTokens =
      format === messagesFormat || world.chance(0.5)
        ? world.pick([1, 16, 200, 4_096, 4_097, 12_000])
        : undefined;
    const stream = world.chance(0.6);
    const body = JSON.stringify({
      model: world.pick(['first', 'second']),
      messages: [{ role: 'user', content: prompt }],
      stream,
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    });
    const requestId = `req_${String(number).padStart(8, '0')}`;
    const memory: Received = {
      requestId,
      marker,
      accountId: account.id,
      format: format.name,
      stream,
      promptCharacters: prompt.length,
      maxTokens,
      askedAt: world.monotonic(),
      characters: 0,
      left: false,
      over: false,
    };
    received.push(memory);
    const leaving = new AbortController();
    if (world.chance(0.25)) {
      world.after(world.pick([0, 5, 40, 400, 3_000]), () => leave(memory, leaving));
    }
    void live(
      node,
      {
        requestId,
        accountId: account.id,
        plan: account.plan,
        format,
        body,
        signal: leaving.signal,
      },
      memory,
    );
  }

  function leave(memory: Received, leaving: AbortController): void {
    if (memory.over) return;
    faults.count(
      memory.characters > 0 ? 'client left in the middle' : 'client left before content',
    );
    memory.left = true;
    memory.leftAt = world.monotonic();
    leaving.abort();
  }

  async function live(node: Gateway, asking: Asking, memory: Received): Promise<void> {
    try {
      const answer = await node.ask(asking);
      if (!node.isAlive()) return;
      if (answer.kind === 'whole') readWhole(answer.body, answer.receipt, memory);
      if (answer.kind === 'stream') await readStream(node, answer.body, memory);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (!node.isAlive()) return;
      memory.refused = error.code;
    }
    memory.over = true;
  }

  async function readStream(
    node: Gateway,
    body: ReadableStream<Uint8Array>,
    memory: Received,
  ): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const isSlow = world.chance(0.1);
    if (isSlow) faults.count('client slow');
    let rest = '';
    for (;;) {
      if (isSlow) await world.sleep(world.between(1, 2_000));
      // A client that reads too slowly is cut off.
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined || !node.isAlive()) return;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data: {')) readEvent(JSON.parse(line.slice(6)), memory);
      if (memory.left) {
        await reader.cancel();
        return;
      }
    }
  }

  return { received, ask };
}

type StreamEvent = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly delta?: { readonly text?: string };
  readonly usage?: Bill;
  readonly error?: Bill;
} & Bill;

function readEvent(event: StreamEvent, memory: Received): void {
  memory.characters += (event.choices?.[0]?.delta?.content ?? event.delta?.text ?? '').length;
  for (const bill of [event, event.usage, event.error]) takeBill(bill, memory);
}

function takeBill(bill: Bill | undefined, memory: Received): void {
  if (bill?.svc_tokens_debited === undefined) return;
  memory.bill = { debited: bill.svc_tokens_debited, outcome: bill.svc_outcome };
}

function readWhole(
  body: string,
  receipt: { readonly tokensDebited: string; readonly outcome: string },
  memory: Received,
): void {
  const answer = JSON.parse(body) as {
    readonly choices?: readonly { readonly message: { readonly content: string | null } }[];
    readonly content?: readonly { readonly text?: string }[];
    readonly usage: Bill;
  };
  const text = answer.choices?.[0]?.message.content ?? answer.content?.[0]?.text ?? '';
  memory.characters = text.length;
  memory.bill = { debited: receipt.tokensDebited, outcome: receipt.outcome };
  if (answer.usage.svc_tokens_debited !== receipt.tokensDebited) {
    throw new Error(`${memory.requestId}: header and body tell two amounts`);
  }
}
