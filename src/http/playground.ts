// Answers a request of the dashboard's playground like /v1: the same pipeline, body, envelope and
// stream, authenticated by a session instead of a key. The dashboard has checked the session.

import type { ClientFormatName } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import type { RouteName } from '../core/request-summary.ts';
import type { PlaygroundCall } from '../generate/pipeline-types.ts';
import { chatFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { messagesFormat } from '../wire/messages/format.ts';
import { responsesFormat } from '../wire/responses/format.ts';
import { type HandlerDependencies, PlaygroundExchange, refuse } from './exchange.ts';
import { answerGeneration } from './handlers.ts';
import { notOffered } from './routes.ts';

const FORMATS: Readonly<
  Record<ClientFormatName, { readonly format: ClientFormat; readonly route: RouteName }>
> = {
  chat: { format: chatFormat, route: 'playground_chat_completions' },
  messages: { format: messagesFormat, route: 'playground_messages' },
  responses: { format: responsesFormat, route: 'playground_responses' },
};

/** Never rejects: refusals are answered in the envelope of the format. */
export function answerPlayground(
  dependencies: HandlerDependencies,
  name: ClientFormatName,
  call: PlaygroundCall,
): Promise<Response> {
  const { format, route } = FORMATS[name];
  const exchange = new PlaygroundExchange(dependencies, call, format, route);
  if (name === 'responses' && !dependencies.offersResponses) {
    const message = notOffered('/v1/responses', false) ?? '';
    return refuse(dependencies, exchange, new GatewayError('not_found', { message }));
  }
  return answerGeneration(dependencies, exchange);
}
