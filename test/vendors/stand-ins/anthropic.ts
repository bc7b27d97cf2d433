// Anthropic's Messages endpoint, all generations since 4.5, at its own address, at Bedrock and at Vertex.
//
// Refuses: what a generation does not take (anthropic-generations.ts); histories whose thinking was
// altered (anthropic-history.ts); names outside of `^[a-zA-Z0-9_-]{1,128}$`; schemas of tools that are no
// objects; blank stop sequences; answer schemas that are open; what its cache refuses of marks
// (test/support/prompt-cache.ts). At Bedrock the key is a bearer; at Vertex
// the model stands in the path and the version in the body.
// Thinking is shown only with `display: summarized` or with a budget; otherwise blocks have a signature
// and no text.
// From: the vendor's guides to Opus 5.5, preserved thinking and versions; types of @anthropic-ai/sdk
// 1.14.0; LiteLLM 1.110.2 (28 November 2026); Bedrock's inference-messages-api page.

import {
  type CacheCounts,
  type CachedRequest,
  createPromptCache,
  type PromptCache,
} from '../../support/prompt-cache.ts';
import {
  checkControls,
  checkThinking,
  type Generation,
  generationOf,
  refusal,
  thinksAbout,
} from './anthropic-generations.ts';
import { bind, checkBlocks, checkCalls } from './anthropic-history.ts';
import { answerMessage } from './messages-answer.ts';
import { askOf, imagesOf, type MessagesBody } from './messages-body.ts';
import { countsOf, decide, fresh, provoke } from './script.ts';
import type { Json, Refusal, Seen, Vendor } from './server.ts';

type Place = 'anthropic' | 'bedrock' | 'vertex';

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refusal('invalid x-api-key', { status: 401, type: 'authentication_error' }),
  402: () => refusal('Your credit balance is too low to access the Anthropic API.'),
  429: () =>
    refusal("This request would exceed your organization's rate limit.", {
      status: 429,
      type: 'rate_limit_error',
      headers: { 'retry-after': '3' },
    }),
  500: () => refusal('Internal server error', { status: 500, type: 'api_error' }),
  529: () => refusal('Overloaded', { status: 529, type: 'overloaded_error' }),
  long: () => refusal('prompt is too long: 1200000 tokens > 1000000 maximum'),
};

const VERTEX_PATH = /\/publishers\/anthropic\/models\/([^/:]+):(rawPredict|streamRawPredict)$/;

/** The model that a request names, after a check of its address and credential. */
function modelOf(place: Place, seen: Seen, body: MessagesBody): string {
  const { headers, path } = seen;
  if (place === 'vertex') {
    const [, model, method] = VERTEX_PATH.exec(path) ?? [];
    if (model === undefined) throw refusal('Not Found', { status: 404, type: 'not_found_error' });
    if (!headers['authorization']?.startsWith('Bearer ')) throw credential();
    if (body.model !== undefined) throw refusal('model: Extra inputs are not permitted');
    if (body['anthropic_version'] !== 'vertex-2023-10-16') {
      throw refusal('anthropic_version: Field required');
    }
    if ((method === 'streamRawPredict') !== (body.stream === true)) {
      throw refusal('stream: does not fit the method of the path');
    }
    return model;
  }
  const wanted = place === 'bedrock' ? '/anthropic/v1/messages' : '/v1/messages';
  if (path !== wanted) throw refusal('Not Found', { status: 404, type: 'not_found_error' });
  const bearer = headers['authorization']?.startsWith('Bearer ') === true;
  const known = place === 'bedrock' ? bearer : bearer || headers['x-api-key'] !== undefined;
  if (!known) throw credential();
  if (headers['anthropic-version'] === undefined) {
    throw refusal('anthropic-version: header is required');
  }
  return body.model ?? '';
}

function credential(): Refusal {
  return refusal('invalid x-api-key', { status: 401, type: 'authentication_error' });
}

function checkShapes(body: MessagesBody): void {
  if (typeof body.max_tokens !== 'number') throw refusal('max_tokens: Field required');
  for (const [index, { type = 'custom', name = '', input_schema: schema }] of (
    body.tools ?? []
  ).entries()) {
    if (type !== 'custom') continue;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      throw refusal(`tools.${index}.custom.name: String should match '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    if (schema?.type !== 'object') {
      throw refusal(`tools.${index}.custom.input_schema.type: Field required`);
    }
  }
  if (body.stop_sequences?.some((stop) => stop.trim() === '') === true) {
    throw refusal('stop_sequences: each stop sequence must contain non-whitespace');
  }
  const schema = body.output_config?.format?.schema;
  if (schema !== undefined && schema['additionalProperties'] !== false) {
    throw refusal(
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    );
  }
}

/** Checks all rules of a body, and gives the transformations that the answer reports. */
export function checkBody(
  body: MessagesBody,
  seen: Pick<Seen, 'headers' | 'returned'>,
  generation: Generation,
): Json {
  checkShapes(body);
  checkThinking(body, generation);
  checkControls(body, generation);
  checkCalls(body);
  return checkBlocks(body, seen, generation);
}

/** What the cache reads and writes. It throws for more marks than four, and for wrong places. */
export function readCache(cache: PromptCache, request: CachedRequest): CacheCounts {
  try {
    return cache.count(request);
  } catch (error) {
    throw refusal(`cache_control: ${error instanceof Error ? error.message : error}`);
  }
}

/** The vendor at one of its addresses. */
export function anthropic(place: Place = 'anthropic'): Vendor {
  const cache = createPromptCache();
  return (seen) => {
    const body = seen.body as MessagesBody;
    const model = modelOf(place, seen, body);
    const generation = generationOf(model);
    seen.thought = thinksAbout(body, generation);
    const ask = askOf(body, seen.thought);
    provoke(seen, ask.last, FAULTS);
    const more = checkBody(body, seen, generation);
    const read = readCache(cache, { site: seen.mark, headers: {}, model, body });
    seen.images = imagesOf(body);
    const turn = decide(ask, () => fresh('toolu_'));
    const { thinking } = body;
    return answerMessage({
      model,
      stream: body.stream === true,
      turn,
      counts: countsOf(seen, ask, turn, () => read),
      shown: thinking?.display === 'summarized' || thinking?.type === 'enabled',
      sign: (position) => {
        const signature = fresh('sig');
        bind(signature, body, position);
        seen.given.push(signature);
        return signature;
      },
      more,
    });
  };
}
