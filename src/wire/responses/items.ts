// The items of a Responses answer as they are written, in a stream and whole.

import type { Citation } from '../../core/citation.ts';
import { customInput } from '../custom-input.ts';
import type { AnswerHead } from '../format.ts';

/** What an item says. */
export type OutputItem =
  | { readonly kind: 'thinking' | 'text'; text: string; annotations?: object[] | undefined }
  | OutputCall;

type OutputCall = {
  readonly kind: 'call';
  readonly id: string;
  readonly name: string;
  arguments: string;
};

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/**
 * In place of encrypted thinking: clients drop thinking without it. What they return is ignored.
 * What upstreams signed is kept here, and never sent to clients.
 */
const ENCRYPTED_CONTENT = 'tg1.dG9sbGdhdGU=';

const PREFIXES = { thinking: 'rs', text: 'msg', call: 'fc', custom: 'ctc' } as const;

/** Whether it is a call whose input is text. */
export function isCustomCall(head: AnswerHead, item: OutputItem): boolean {
  return item.kind === 'call' && head.customTools?.includes(item.name) === true;
}

/** The id of the item at this place of an answer. */
export function itemId(head: AnswerHead, item: OutputItem, index: number): string {
  return `${PREFIXES[isCustomCall(head, item) ? 'custom' : item.kind]}_${head.id}${index}`;
}

/** An item as it stands; one in progress says nothing yet. */
export function itemValue(
  head: AnswerHead,
  item: OutputItem,
  index: number,
  status: ItemStatus,
): object {
  const id = itemId(head, item, index);
  const isEmpty = status === 'in_progress';
  switch (item.kind) {
    case 'thinking': {
      const summary = isEmpty || item.text === '' ? [] : [summaryPart(item.text)];
      return { id, type: 'reasoning', summary, encrypted_content: ENCRYPTED_CONTENT };
    }
    case 'text': {
      const content = isEmpty ? [] : [outputTextPart(item.text, item.annotations)];
      return { id, type: 'message', role: 'assistant', status, content };
    }
    case 'call': {
      const { id: call_id, name } = item;
      const named = head.namespaced?.find((tool) => tool.name === name)?.inNamespace;
      const call = { call_id, name, ...named };
      const text = isEmpty ? '' : argumentsText(head, item);
      return isCustomCall(head, item)
        ? { id, type: 'custom_tool_call', status, ...call, input: text }
        : { id, type: 'function_call', status, ...call, arguments: text };
    }
  }
}

/** The arguments of a function, or the input of a custom tool. */
export function argumentsText(head: AnswerHead, item: OutputCall): string {
  if (isCustomCall(head, item)) return customInput(item.arguments);
  // Some clients cannot parse empty arguments.
  return item.arguments === '' ? '{}' : item.arguments;
}

export function outputTextPart(text: string, annotations: readonly object[] = []): object {
  return { type: 'output_text', text, annotations, logprobs: [] };
}

/** `before`: how much text of the answer stands before that of the item. */
export function annotationValue({ start, end, url, title }: Citation, before: number) {
  return { type: 'url_citation', start_index: start - before, end_index: end - before, url, title };
}

export function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}
