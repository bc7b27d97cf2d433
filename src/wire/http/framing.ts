// Determines where a response body ends and whether the connection can be reused: RFC 9112,
// sections 6.3 and 9.3. Ambiguous framing is a fault.

import type { HttpFault } from './fault.ts';
import type { ResponseHead } from './response-head.ts';

/**
 * The length of the body in bytes, or how its end is marked; `close`: by closing the connection.
 */
export type Framing = number | 'chunked' | 'close';

/** Up to 10¹⁵ - 1: a number represents every such integer exactly. */
const LENGTH = /^\d{1,15}$/;
const LIST = /[\t ]*,[\t ]*/;

/** For the response to a POST. */
export function framingOf(head: ResponseHead): Framing | HttpFault {
  const { status, minorVersion, transferEncoding: coding, contentLength: lengths } = head;
  if (coding !== undefined) {
    if (lengths !== undefined) return { fault: 'it has both a length and a transfer coding' };
    if (minorVersion === 0) return { fault: 'it has a transfer coding, which HTTP/1.0 has not' };
    if (coding.toLowerCase() !== 'chunked') return { fault: 'its transfer coding is not chunked' };
  }
  const length = lengths === undefined ? undefined : readLength(lengths);
  if (typeof length === 'object') return length;
  if (status === 204 || status === 304) return 0;
  if (coding !== undefined) return 'chunked';
  return length ?? 'close';
}

function readLength(text: string): number | HttpFault {
  return LENGTH.test(text) ? Number(text) : readLengths(text);
}

/** The same length may be given more than once. */
function readLengths(text: string): number | HttpFault {
  const [first = '', ...others] = text.split(LIST);
  if (!LENGTH.test(first)) return { fault: 'its length is not a number' };
  if (others.some((other) => other !== first)) return { fault: 'it has two lengths' };
  return Number(first);
}

/** Whether another request may follow on the connection. */
export function staysOpen({ minorVersion, connection }: ResponseHead, framing: Framing): boolean {
  if (framing === 'close') return false;
  if (connection === undefined) return minorVersion === 1;
  const options = connection.toLowerCase().split(LIST);
  if (options.includes('close')) return false;
  return minorVersion === 1 || options.includes('keep-alive');
}

/** The server's keep-alive time for idle connections, if it states one. */
export function keepAliveMs({ keepAlive: text }: ResponseHead): number | undefined {
  const seconds = text === undefined ? null : /\btimeout *= *"?(\d{1,6})\b/i.exec(text);
  return seconds === null ? undefined : Number(seconds[1]) * 1_000;
}
