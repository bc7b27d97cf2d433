// The scripted upstream with the rules of Anthropic's newest models: the stand-in of test/vendors checks
// each request, and each answer has a signature that is bound to its conversation.

import { type Behaviour, behaviourFor, sendWhole } from '../support/behaviours.ts';
import { createPromptCache } from '../support/prompt-cache.ts';
import { SIGNATURE } from '../support/render.ts';
import { checkBody, readCache } from './stand-ins/anthropic.ts';
import { generationOf } from './stand-ins/anthropic-generations.ts';
import { bind } from './stand-ins/anthropic-history.ts';
import type { MessagesBody } from './stand-ins/messages-body.ts';
import { fresh } from './stand-ins/script.ts';
import { Refusal } from './stand-ins/server.ts';

/** It always thinks, and takes neither forced tools nor prefill nor sampling. */
const GENERATION = generationOf('claude-opus-5-5');

/** The behaviours of these models behind the rules. Adds to `refusals` what breaks one. */
export function strictBehaviours(
  models: readonly string[],
  refusals: string[],
): Readonly<Record<string, Behaviour>> {
  const cache = createPromptCache();

  function check({ headers, model, body: json }: Parameters<Behaviour>[0]['request']): void {
    const body = json as MessagesBody;
    const transformations = checkBody(body, { headers, returned: [] }, GENERATION);
    readCache(cache, { site: '', headers, model, body });
    // A kept thought is part of what is tested, although the vendor serves the request without it.
    const dropped = transformations['input_transformations'] ?? [];
    refusals.push(...(dropped as object[]).map((each) => JSON.stringify(each)));
  }

  function behindRules(behaviour: Behaviour): Behaviour {
    return (exchange) => {
      try {
        check(exchange.request);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusals.push(error.message);
        return sendWhole(exchange, error.status, JSON.stringify(error.body));
      }
      const body = exchange.request.body as MessagesBody;
      const signature = fresh(SIGNATURE);
      // The scripts think first.
      bind(signature, body, 0);
      const isShown = body.thinking?.display === 'summarized';
      const change = (name: string, value: unknown): unknown => {
        if (name === 'signature' && value === SIGNATURE) return signature;
        return name === 'thinking' && typeof value === 'string' && !isShown ? '' : value;
      };
      return behaviour({
        ...exchange,
        head: (status, { 'content-length': _, ...headers }) => exchange.head(status, headers),
        write: (piece) =>
          exchange.write(
            String(piece).replace(/\{.*\}/, (json) => JSON.stringify(JSON.parse(json, change))),
          ),
      });
    };
  }

  return Object.fromEntries(models.map((model) => [model, behindRules(behaviourFor(model))]));
}
