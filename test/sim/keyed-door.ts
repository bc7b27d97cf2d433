// How requests with an `Idempotency-Key` enter a simulated gateway: through the product's own code,
// its store over the same file included.

import { createHash } from 'node:crypto';
import type { Deadlines } from '../../src/core/deadlines.ts';
import type { Catalog } from '../../src/core/model.ts';
import type { ServiceState } from '../../src/core/service-state.ts';
import type { GenerateDependencies } from '../../src/generate/pipeline-types.ts';
import { GenerationExchange, type HandlerDependencies } from '../../src/http/exchange.ts';
import { createIdempotency } from '../../src/http/idempotency.ts';
import { answerOnce } from '../../src/http/keyed-request.ts';
import { createTallies } from '../../src/http/tally.ts';
import { createIdempotencyStore } from '../../src/idempotency/store.ts';
import type { KeyFacts } from '../../src/identity/authenticate.ts';
import type { Books } from '../../src/ledger/books.ts';
import type { Database } from '../../src/store/contract.ts';
import { isStoreFailure } from '../../src/store/error.ts';
import { parseBody } from '../../src/wire/body.ts';
import type { ParsedBody } from '../../src/wire/format.ts';
import type { Asking } from './gateway.ts';
import type { World } from './world.ts';

export type DoorParts = {
  readonly world: World;
  readonly catalog: Catalog;
  readonly database: Database;
  readonly books: Books;
  readonly deadlines: Deadlines;
  readonly generation: GenerateDependencies;
  readonly serviceState: () => ServiceState;
  /** Names this life of the gateway. */
  readonly incarnation: string;
  readonly isAlive: () => boolean;
  readonly factsOf: (asking: Asking) => KeyFacts;
};

/** Answers with a key. */
export function createKeyedDoor(
  parts: DoorParts,
): (asking: Asking, key: string) => Promise<Response> {
  const { world, database, books, deadlines, generation, serviceState, incarnation } = parts;
  const { isAlive, factsOf } = parts;
  let drawn = 0;
  // Nonces alone, which change nothing that a world sees.
  const randomBytes = (length: number): Uint8Array => {
    drawn += 1;
    return createHash('sha512').update(`${incarnation} ${drawn}`).digest().subarray(0, length);
  };
  const store = createIdempotencyStore({
    ...{ database, clock: world.wall, randomBytes, secret: 's'.repeat(32) },
    incarnation: () => incarnation,
    // A row that could not be written is judged by the books.
    onTrouble: () => {},
  });
  const dependencies = {
    ...{
      generation,
      serviceState,
      deadlines,
      randomBytes,
      clock: world.wall,
      startTrace: undefined,
    },
    idempotency: createIdempotency({
      ...{ store, books, clock: world.wall },
      monotonic: world.monotonic,
    }),
    isRefusing: () => false,
    draining: () => false,
    hasRoom: () => true,
    isAway: isStoreFailure,
    tallies: createTallies({ monotonic: world.monotonic, tell: () => {} }),
    noteRefusal: () => {},
    onInternal(requestId: string, error: unknown) {
      if (isAlive() && !isStoreFailure(error)) generation.onInternal(requestId, error);
    },
  } as unknown as HandlerDependencies;

  return (asking, key) => {
    const { format, requestId, body, signal } = asking;
    const headers = { 'idempotency-key': key };
    const request = new Request('http://gateway.test/v1', { method: 'POST', headers, signal });
    const exchange = new SimulatedExchange(
      ...([dependencies, request, null, format, 'chat_completions', requestId] as const),
    );
    exchange.facts = factsOf(asking);
    exchange.parsed = parseBody(new TextEncoder().encode(body));
    return answerOnce(dependencies, exchange);
  };
}

class SimulatedExchange extends GenerationExchange {
  facts: KeyFacts | undefined;
  parsed: ParsedBody | undefined;

  override authorize(): KeyFacts {
    if (this.facts === undefined) throw new Error('no key');
    return this.facts;
  }

  override async readBody(): Promise<ParsedBody> {
    if (this.parsed === undefined) throw new Error('no body');
    return this.parsed;
  }
}
