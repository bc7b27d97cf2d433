// A request of the dashboard's playground, answered as /v1 answers: the same pipeline, body, envelope and
// stream, under a session in place of a key. Called by the dashboard, which has checked the session.

import type { ClientFormatName } from '../core/admit.ts';
import type { RouteName } from '../core/request-summary.ts';
import type { PlaygroundCall } from '../generate/pipeline-types.ts';
import { chatFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { messagesFormat } from '../wire/messages/format.ts';
import { type HandlerDependencies, PlaygroundExchange } from './exchange.ts';
import { answerGeneration } from './handlers.ts';

const FORMATS: Readonly<
  Record<ClientFormatName, { readonly format: ClientFormat; readonly route: RouteName }>
> = {
  chat: { format: chatFormat, route: 'playground_chat_completions' },
  messages: { format: messagesFormat, route: 'playground_messages' },
};

/** Never rejects: whatever is refused is told in the envelope of the format. */
export function answerPlayground(
  dependencies: HandlerDependencies,
  name: ClientFormatName,
  call: PlaygroundCall,
): Promise<Response> {
  const { format, route } = FORMATS[name];
  return answerGeneration(dependencies, new PlaygroundExchange(dependencies, call, format, route));
}
