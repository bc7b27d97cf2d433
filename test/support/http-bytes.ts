// Reads the parts of HTTP/1.1 messages from their bytes: a head, and a body in chunks. Deliberately
// independent of the gateway's own parsers. Each is `undefined` while it is not complete.

const CRLF = '\r\n';
const HEAD_END = '\r\n\r\n';

/** `rest` are the bytes behind the head; names of headers are in lower case. */
export function readHead(bytes: Buffer) {
  const length = bytes.indexOf(HEAD_END);
  if (length === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, length).split(CRLF);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { first, headers, rest: bytes.subarray(length + HEAD_END.length) };
}

export function readChunks(bytes: Buffer): { text: string; rest: Buffer } | undefined {
  const pieces: Buffer[] = [];
  let position = 0;
  for (;;) {
    const lineEnd = bytes.indexOf(CRLF, position);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { text: Buffer.concat(pieces).toString(), rest: bytes.subarray(end) };
    pieces.push(bytes.subarray(lineEnd + 2, end - 2));
    position = end;
  }
}
