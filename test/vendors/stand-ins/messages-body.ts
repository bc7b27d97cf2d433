// A Messages request as the stand-ins read it.

import type { Ask } from './script.ts';
import type { Json } from './server.ts';

export type Block = Json & {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
};

export type MessagesTurn = {
  readonly role: string;
  readonly content: string | readonly Block[];
};

type MessagesTool = {
  readonly type?: string;
  readonly name?: string;
  readonly input_schema?: Json & { readonly type?: string };
};

export type MessagesBody = Json & {
  readonly model?: string;
  readonly system?: string | readonly Block[];
  readonly messages: readonly MessagesTurn[];
  readonly tools?: readonly MessagesTool[];
  readonly tool_choice?: { readonly type: string; readonly name?: string };
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly stop_sequences?: readonly string[];
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly thinking?: {
    readonly type?: string;
    readonly budget_tokens?: number;
    readonly display?: string;
    readonly block_binding?: { readonly prefix_mismatch_behavior?: string };
  };
  readonly output_config?: {
    readonly effort?: string | null;
    readonly format?: { readonly schema?: Json };
  };
};

/** The blocks of a turn or of a system prompt. */
export function blocksOf(content: MessagesBody['system']): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content ?? [];
}

/** All text of a content. */
export function textIn(content: MessagesBody['system']): string {
  return blocksOf(content)
    .map((block) => block.text ?? '')
    .join('\n');
}

const isResult = (block: Block): boolean => block.type === 'tool_result';

/** What the request asks the model. `prefill`: whether a last assistant turn is a beginning. */
export function askOf(body: MessagesBody, thinks: boolean): Ask {
  const { messages, tool_choice: choice } = body;
  const lastUser = messages.findLastIndex(({ role, content }) => {
    return role === 'user' && !blocksOf(content).some(isResult);
  });
  const users = messages.filter(({ role }) => role === 'user');
  const last = messages.at(-1);
  return {
    last: textIn(messages[lastUser]?.content),
    prompt: [textIn(body.system), ...users.map((turn) => textIn(turn.content))].join('\n'),
    tools: (body.tools ?? []).map((tool) => tool.name ?? ''),
    forbidden: choice?.type === 'none',
    forced: choice?.type === 'any' ? 'any' : choice?.name,
    json: body.output_config?.format !== undefined,
    results: messages.slice(lastUser).flatMap((turn) => blocksOf(turn.content).filter(isResult))
      .length,
    prefill: last?.role === 'assistant' ? textIn(last.content) : '',
    spoken: textIn(messages.findLast((turn) => turn.role === 'assistant')?.content),
    thinks,
  };
}

/** The images of all user turns, those in tool results included. */
export function imagesOf({ messages }: MessagesBody): number {
  return JSON.stringify(messages).split('"type":"image"').length - 1;
}
