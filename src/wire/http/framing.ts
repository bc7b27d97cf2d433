// Where the body of an answer ends, and whether its connection can be used again: RFC 9112,
// sections 6.3 and 9.3. Called by the decoder of answers. What two readers could take for two
// lengths is a fault.

import type { HttpFault } from './fault.ts';
import type { ResponseHead } from './response-head.ts';

/** The bytes of the body, or how else its end is told; `close`: it ends with the connection. */
export type Framing = number | 'chunked' | 'close';

/** Up to 10¹⁵ - 1: every such number is exact. */
const LENGTH = /^\d{1,15}$/;
const LIST = /[\t ]*,[\t ]*/;

/** Of the answer to a POST. */
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

/** The same length may be told more than once. */
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

/** How long the server says that it keeps an idle connection, where it says so. */
export function keepAliveMs({ keepAlive: text }: ResponseHead): number | undefined {
  const seconds = text === undefined ? null : /\btimeout *= *"?(\d{1,6})\b/i.exec(text);
  return seconds === null ? undefined : Number(seconds[1]) * 1_000;
}
