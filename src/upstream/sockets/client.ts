// Tollgate's own HTTP/1.1 client over TCP and TLS, for upstreams without a proxy. It does not limit
// concurrent requests, never queues one, and follows no redirects. It never sends a request twice:
// an upstream that closed a kept-alive connection may have begun to answer, at our cost. Only the
// route retries, visibly.

import { isFailure, type UpstreamFailure } from '../../core/failure.ts';
import { requestHeadWriter, type WriteRequestHead } from '../../wire/http/request-head.ts';
import type { StopSignal } from '../stop.ts';
import {
  type RemoteUpstream,
  type TransportDependencies,
  UNCONNECTED,
  type UpstreamAnswer,
  type UpstreamRequest,
} from '../transport.ts';
import type { Connection } from './connection.ts';
import { createDial } from './dial.ts';
import { UpstreamExchange } from './exchange.ts';
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
  const places = new WeakMap<RemoteUpstream, Place>();

  function placeOf(upstream: RemoteUpstream): Place {
    const known = places.get(upstream);
    if (known !== undefined) return known;
    const origin = originOf(upstream);
    const place: Place = {
      origin,
      heads: new WeakMap(),
      clock,
      release(connection, keepAliveMs) {
        if (origin.isTls && !sessions.has(origin.key)) {
          const session = connection.tlsSession();
          if (session !== undefined) sessions.set(origin.key, session);
        }
        pool.put(origin.key, connection, keepAliveMs);
      },
    };
    places.set(upstream, place);
    return place;
  }

  /** Not async, because an async function would keep the request in memory while it waits. */
  function sendOnNew(
    place: Place,
    request: Buffer,
    connectMs: number,
    signal: StopSignal,
  ): Promise<UpstreamAnswer | UpstreamFailure> {
    return dial(place.origin, connectMs, signal).then((connection) => {
      if (isFailure(connection)) return connection;
      if (!signal.aborted) {
        return new UpstreamExchange(connection, request, signal, place, false).answered;
      }
      connection.abort();
      return UNCONNECTED;
    });
  }

  return {
    send(
      upstream: RemoteUpstream,
      call: UpstreamRequest,
    ): Promise<UpstreamAnswer | UpstreamFailure> {
      const { signal, connectMs } = call;
      if (signal.aborted) return Promise.resolve(UNCONNECTED);
      const place = placeOf(upstream);
      const request = writeRequest(place, call, userAgent);
      if (request === undefined) return Promise.resolve(UNWRITABLE);
      const kept = call.newConnection === true ? undefined : pool.take(place.origin.key);
      if (kept !== undefined) {
        return new UpstreamExchange(kept, request, signal, place, true).answered;
      }
      return sendOnNew(place, request, connectMs, signal);
    },
    close: pool.close,
  };
}

/** The target of an upstream's requests, and what they have in common. */
type Place = {
  readonly origin: Origin;
  /** By the headers of a credential. */
  readonly heads: WeakMap<UpstreamRequest['headers'], PlaceHead>;
  readonly clock: () => number;
  readonly release: (connection: Connection, keepAliveMs: number | undefined) => void;
};

/** `write` is absent if a header contains an invalid character. */
type PlaceHead = { readonly path: string; readonly write: WriteRequestHead | undefined };

function headOf(place: Place, call: UpstreamRequest, userAgent: string): PlaceHead {
  const { path, headers } = call;
  const known = place.heads.get(headers);
  if (known?.path === path) return known;
  const { host, pathPrefix, query } = place.origin;
  const target = pathPrefix + path + query;
  const write = requestHeadWriter({ target, host, userAgent, headers });
  const head = { path, write };
  place.heads.set(headers, head);
  return head;
}

/** Head and body in one buffer, for a single write. */
function writeRequest(place: Place, call: UpstreamRequest, userAgent: string): Buffer | undefined {
  const { write } = headOf(place, call, userAgent);
  if (write === undefined) return undefined;
  const bodyBytes = Buffer.byteLength(call.body);
  const head = write(bodyBytes, call.trace);
  const request = Buffer.allocUnsafe(head.length + bodyBytes);
  request.write(head);
  request.write(call.body, head.length);
  return request;
}
