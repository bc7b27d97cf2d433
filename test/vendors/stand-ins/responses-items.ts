// The items of an answer of the Responses endpoint.
// From: types of openai 7.59.0 (28 November 2026).

import { fresh, type Item } from './script.ts';
import type { Json } from './server.ts';

type SummaryPart = { readonly type: 'summary_text'; readonly text: string };
type ContentPart = Json & { readonly type: string };

export type OutputItem =
  | {
      readonly type: 'reasoning';
      readonly id: string;
      readonly summary: readonly SummaryPart[];
      readonly encrypted_content?: string;
      /** The text of open models. */
      readonly content?: readonly { readonly type: 'reasoning_text'; readonly text: string }[];
    }
  | {
      readonly type: 'message';
      readonly id: string;
      readonly role: 'assistant';
      readonly status: string;
      readonly phase: string;
      readonly content: readonly ContentPart[];
    }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly status: string;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

export type ItemOptions = {
  readonly filtered: boolean;
  readonly summarized: boolean;
  readonly encrypted: boolean;
  readonly open: boolean;
  readonly phase: string;
};

/** An item, from what the model made. */
export function outputItem(
  item: Item,
  { filtered, summarized, encrypted, open, phase }: ItemOptions,
): OutputItem {
  switch (item.kind) {
    case 'thought': {
      const { text } = item;
      const base = { id: fresh('rs_'), type: 'reasoning' } as const;
      if (open) return { ...base, summary: [], content: [{ type: 'reasoning_text', text }] };
      return {
        ...base,
        summary: summarized ? [{ type: 'summary_text', text }] : [],
        ...(encrypted ? { encrypted_content: fresh('gAAAAA') } : {}),
      };
    }
    case 'text': {
      const said = { type: 'output_text', text: item.text, annotations: [], logprobs: [] };
      return {
        id: fresh('msg_'),
        type: 'message',
        role: 'assistant',
        status: 'completed',
        phase,
        content: [filtered ? { type: 'refusal', refusal: item.text } : said],
      };
    }
    case 'call':
      return {
        id: fresh('fc_'),
        type: 'function_call',
        status: 'completed',
        call_id: item.call.id,
        name: item.call.name,
        arguments: item.call.json,
      };
  }
}
