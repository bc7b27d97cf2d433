// The program's own HTTP/1.1 client, over TCP and TLS. Called by client.ts for upstreams that are
// reached without a proxy. It has no limit of its own on requests under way, never queues one, and
// never follows what an answer says. It never sends a request twice: an upstream that has closed a
// kept connection may have begun to answer, at our cost. The route asks again, and says so.

import { isFailure, type UpstreamFailure } from '../../core/failure.ts';
import { writeRequestHead } from '../../wire/http/request-head.ts';
import type { ResponseHead } from '../../wire/http/response-head.ts';
import { decompress } from '../decompress.ts';
import { readText } from '../read-text.ts';
import {
  answerHead,
  type RemoteUpstream,
  type TransportDependencies,
  UNCONNECTED,
  type UpstreamAnswer,
  type UpstreamRequest,
} from '../transport.ts';
import type { ResponseBody } from './body.ts';
import type { Connection } from './connection.ts';
import { createDial } from './dial.ts';
import { exchange } from './exchange.ts';
import { type Origin, originOf } from './origin.ts';
import { createPool } from './pool.ts';

const UNWRITABLE: UpstreamFailure = {
  class: 'credential',
  detail: 'the API key has a character that no header may have',
};

export function createSocketClient(dependencies: TransportDependencies) {
  const { clock, monotonic, userAgent } = dependencies;
  const sessions = new Map<string, Buffer>();
  const dial = createDial(dependencies, sessions);
  const pool = createPool(monotonic);
  const origins = new WeakMap<RemoteUpstream, Origin>();

  function originFor(upstream: RemoteUpstream): Origin {
    const known = origins.get(upstream);
    if (known !== undefined) return known;
    const origin = originOf(upstream);
    origins.set(upstream, origin);
    return origin;
  }

  function run(origin: Origin, connection: Connection, request: Buffer, signal: AbortSignal) {
    return exchange(connection, request, signal, (keepAliveMs) => {
      if (origin.isTls && !sessions.has(origin.key)) {
        const session = connection.tlsSession();
        if (session !== undefined) sessions.set(origin.key, session);
      }
      pool.put(origin.key, connection, keepAliveMs);
    });
  }

  return {
    async send(
      upstream: RemoteUpstream,
      call: UpstreamRequest,
    ): Promise<UpstreamAnswer | UpstreamFailure> {
      const { signal } = call;
      if (signal.aborted) return UNCONNECTED;
      const origin = originFor(upstream);
      const request = writeRequest(origin, call, userAgent);
      if (request === undefined) return UNWRITABLE;
      const kept = call.newConnection === true ? undefined : pool.take(origin.key);
      const connection = kept ?? (await dial(origin, call.connectMs, signal));
      if (isFailure(connection)) return connection;
      if (signal.aborted) {
        connection.abort();
        return UNCONNECTED;
      }
      const answer = await run(origin, connection, request, signal);
      if (!isFailure(answer)) return toAnswer(answer.head, answer.body, clock);
      if (kept === undefined || answer.class !== 'unreachable') return answer;
      return { ...answer, onKeptConnection: true };
    },
    close: pool.close,
  };
}

/** Head and body in one piece, for one write. */
function writeRequest(
  origin: Origin,
  { path, headers, body }: UpstreamRequest,
  userAgent: string,
): Buffer | undefined {
  const bodyBytes = Buffer.byteLength(body);
  const target = origin.pathPrefix + path;
  const head = writeRequestHead({ target, host: origin.host, userAgent, headers, bodyBytes });
  if (head === undefined) return undefined;
  const request = Buffer.allocUnsafe(head.length + bodyBytes);
  request.write(head, 'latin1');
  request.write(body, head.length);
  return request;
}

function toAnswer(
  head: ResponseHead,
  body: ResponseBody,
  clock: () => number,
): UpstreamAnswer | UpstreamFailure {
  const { status, fields } = head;
  const said = answerHead(status, (name) => fields.get(name), clock);
  const coding = fields.get('content-encoding') ?? 'identity';
  if (coding === 'identity' || coding === '')
    return { ...said, text: body.text, reader: () => body };
  const unpacked = decompress(body, coding);
  if (unpacked === undefined) {
    body.cancel();
    return { class: 'malformed', detail: 'the answer is compressed in an unknown way', status };
  }
  return { ...said, text: () => readText(unpacked), reader: () => unpacked };
}
