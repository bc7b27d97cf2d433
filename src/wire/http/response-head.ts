// Parses the head of an HTTP/1.x response: status line and fields, strictly where readers could
// differ. It buffers only an incomplete head.

import type { HttpFault } from './fault.ts';

export const HEAD_BYTES_MAX = 65_536;
const FIELDS_MAX = 256;

/** Repeated fields are joined by ", ". */
export class ResponseHead {
  readonly status: number;
  /** The minor version of HTTP/1.x. */
  readonly minorVersion: 0 | 1;
  /** Where the head ends in the bytes of the last read. */
  readonly end: number;
  connection: string | undefined;
  contentEncoding: string | undefined;
  contentLength: string | undefined;
  contentType: string | undefined;
  keepAlive: string | undefined;
  retryAfter: string | undefined;
  retryAfterMs: string | undefined;
  transferEncoding: string | undefined;

  constructor(status: number, minorVersion: 0 | 1, end: number) {
    this.status = status;
    this.minorVersion = minorVersion;
    this.end = end;
  }
}

/** The fields used here. Others are checked and dropped, because most responses have many. */
type FieldName = Exclude<keyof ResponseHead, 'status' | 'minorVersion' | 'end'>;

const HEAD_END = '\r\n\r\n';
const VERSION_START = 'HTTP/1.';
/** A lone CR or LF, or a control character other than tab. */
const FORBIDDEN = /[^\r]\n|\r[^\n]|[^\t\r\n\x20-\x7e\x80-\xff]/;
const STATUS_LINE = /^HTTP\/1\.[01] [1-5]\d\d(?: .*)?\r\n/;
const STATUS_AT = 'HTTP/1.1 '.length;
/** A field name with its colon, from `lastIndex` on. */
const FIELD_NAME = /[!#$%&'*+.^_`|~0-9A-Za-z-]+:/y;

const READ: ReadonlyMap<string, FieldName> = new Map([
  ['connection', 'connection'],
  ['content-encoding', 'contentEncoding'],
  ['content-length', 'contentLength'],
  ['content-type', 'contentType'],
  ['keep-alive', 'keepAlive'],
  ['retry-after', 'retryAfter'],
  ['retry-after-ms', 'retryAfterMs'],
  ['transfer-encoding', 'transferEncoding'],
]);
const READ_LENGTHS: ReadonlySet<number> = new Set([...READ.keys()].map((name) => name.length));

const TOO_LARGE: HttpFault = { fault: `the head is larger than ${HEAD_BYTES_MAX} bytes` };
const NO_STATUS_LINE: HttpFault = { fault: 'the status line is malformed' };
const BAD_CHARACTER: HttpFault = { fault: 'the head has a forbidden character or line end' };

export class HeadReader {
  /** Most heads arrive in one read. Otherwise this buffer has room for the largest. */
  private held: Buffer | undefined;
  private heldBytes = 0;

  /** The head completed by these bytes, which begin at `start`; `undefined` if more are needed. */
  read(bytes: Buffer, start: number): ResponseHead | HttpFault | undefined {
    if (this.held === undefined) {
      const at = bytes.indexOf(HEAD_END, start, 'latin1');
      if (at >= 0) return parseHead(bytes.toString('latin1', start, at + 4), at + 4);
      this.held = Buffer.allocUnsafe(HEAD_BYTES_MAX);
    }
    const { held, heldBytes: before } = this;
    this.heldBytes += bytes.copy(held, before, start);
    const now = this.heldBytes;
    const at = held.subarray(0, now).indexOf(HEAD_END, Math.max(0, before - 3), 'latin1');
    if (at >= 0) {
      const text = held.toString('latin1', 0, at + 4);
      this.held = undefined;
      this.heldBytes = 0;
      return parseHead(text, start + text.length - before);
    }
    // A server of another protocol may wait forever for our next bytes, so fail early.
    const first = held.toString('latin1', 0, Math.min(now, VERSION_START.length));
    if (!VERSION_START.startsWith(first)) return NO_STATUS_LINE;
    const fresh = held.toString('latin1', Math.max(0, before - 1), now);
    if (FORBIDDEN.test(fresh)) return BAD_CHARACTER;
    return now === HEAD_BYTES_MAX ? TOO_LARGE : undefined;
  }
}

/** `text` is the whole head with its final empty line. */
function parseHead(text: string, endInRead: number): ResponseHead | HttpFault {
  if (text.length > HEAD_BYTES_MAX) return TOO_LARGE;
  if (!text.startsWith(VERSION_START)) return NO_STATUS_LINE;
  if (FORBIDDEN.test(text)) return BAD_CHARACTER;
  if (!STATUS_LINE.test(text)) return NO_STATUS_LINE;
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  const minorVersion = text.charAt(VERSION_START.length) === '1' ? 1 : 0;
  const head = new ResponseHead(status, minorVersion, endInRead);
  let count = 0;
  let at = text.indexOf('\r\n') + 2;
  // The last line is the empty one.
  while (at < text.length - 2) {
    count += 1;
    if (count > FIELDS_MAX) return { fault: `the head has more than ${FIELDS_MAX} fields` };
    FIELD_NAME.lastIndex = at;
    // A folded line begins with a space, which no field name does.
    if (!FIELD_NAME.test(text)) return { fault: 'a field of the head has no name, or a wrong one' };
    const valueAt = FIELD_NAME.lastIndex;
    const end = text.indexOf('\r\n', valueAt);
    if (READ_LENGTHS.has(valueAt - 1 - at)) {
      const name = READ.get(text.slice(at, valueAt - 1).toLowerCase());
      if (name !== undefined) addField(head, name, withoutSpaces(text, valueAt, end));
    }
    at = end + 2;
  }
  return head;
}

function addField(head: ResponseHead, name: FieldName, value: string): void {
  const earlier = head[name];
  head[name] = earlier === undefined ? value : `${earlier}, ${value}`;
}

/** Trims spaces and tabs at both ends; other white space is part of the value. */
function withoutSpaces(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (from < to && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}
