// What a case of the matrix is, and what its cases share.

import type { Caller, EveryFormat } from '../../support/client.ts';
import { Conversation, type Reply, Unserved } from '../conversation.ts';
import type { Row } from '../rows.ts';
import type { Json, Seen } from '../stand-ins/server.ts';

/** One model in one case and one client format. */
export type Cell = {
  readonly row: Row;
  readonly format: EveryFormat;
  readonly caller: Caller;
  /** Begins the first user text, and finds the cell's requests at the stand-in. */
  readonly mark: string;
  /** The requests that the stand-in got, in order. */
  readonly seen: () => readonly Seen[];
  /** What the gateway has printed. */
  readonly output: () => string;
};

/** A case throws where its rule does not hold. */
export type Case = {
  readonly name: string;
  /** All by default. */
  readonly formats?: readonly EveryFormat[];
  /** The rows that have what the case is about; all by default. */
  readonly applies?: (row: Row) => boolean;
  /** Whether the vendor may refuse a request of the case. */
  readonly mayRefuse?: boolean;
  readonly run: (cell: Cell) => Promise<void>;
};

/** Requests thinking in each format. */
export const THINK: Readonly<Record<EveryFormat, Json>> = {
  chat: { reasoning_effort: 'high' },
  messages: { thinking: { type: 'enabled', budget_tokens: 4_000 } },
  responses: { reasoning: { effort: 'high', summary: 'auto' } },
};

/** A tool of the cases. Prompts do not contain these names, so that only a request can force one. */
export const WEATHER = {
  name: 'get_weather',
  schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
} as const;

/** Another one. */
export const STATION = {
  name: 'find_station',
  schema: { type: 'object', properties: { place: { type: 'string' } } },
} as const;

/** A conversation of the cell, with its mark in front of the first user text. */
export function talk({ format, caller, row, mark }: Cell, text: string): Conversation {
  return new Conversation(format, caller, row.id).user(`${mark} ${text}`);
}

/** Throws where something of a case does not hold. */
export function must(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Error(reason);
}

/** Throws unless the answer has this text. */
export function mustSay({ said }: Reply, text: string): void {
  must(said.text === text, `the answer is ${JSON.stringify(said.text)}, not ${text}`);
}

/** Throws unless the answer calls exactly these tools. */
export function mustCall({ said }: Reply, ...names: readonly string[]): void {
  const called = said.calls.map((call) => call.name).join(', ');
  must(called === names.join(', '), `it calls ${called || 'no tool'}, not ${names.join(', ')}`);
}

/** Throws unless each request has returned all thinking of the answers before it. */
export function mustReturnThinking({ row, seen: requests }: Cell): void {
  const given: string[] = [];
  for (const [index, seen] of requests().entries()) {
    const lost = given.filter((each) => !seen.returned.includes(each));
    must(lost.length === 0, `request ${index + 1} lost ${lost.length} of ${given.length} thoughts`);
    given.push(...seen.given);
  }
  must(given.length > 0 || !row.keeps, 'the vendor gave no thinking that could return');
}

/** Why a request was not served; undefined if it was. */
export async function failureOf(sent: Promise<Reply>): Promise<Unserved | undefined> {
  return sent.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Unserved) return error;
      throw error;
    },
  );
}

/** Throws unless the vendor was asked once and refused. */
export function mustRefuseOnce({ seen }: Cell): void {
  const asked = seen();
  must(asked.length === 1, `the vendor was asked ${asked.length} times`);
  must(asked[0]?.refusal !== undefined, 'the vendor refused nothing');
}
