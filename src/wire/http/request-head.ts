// Builds the head of an HTTP/1.1 request, once per target. It never writes a value that could end
// its line, and rejects such values instead of repairing them.

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Empty, or visible ASCII with inner spaces and tabs. */
const VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;
/** The characters that the URL parser allows in a path and its query. */
const TARGET = /^\/[\x21-\x7e]*$/;
const HOST = /^[\x21-\x7e]+$/;

type RequestHead = {
  /** Path and query. */
  readonly target: string;
  /** The host name, with a port unless it is the scheme's default, and brackets around IPv6. */
  readonly host: string;
  readonly userAgent: string;
  /** Additional headers; those for framing and credentials are written here. */
  readonly headers: Readonly<Record<string, string>>;
};

/** `more` are headers of this request alone; one with an invalid character is left out. */
export type WriteRequestHead = (
  bodyBytes: number,
  more?: Readonly<Record<string, string>>,
) => string;

/**
 * A POST for an uncompressed answer (`identity`) on a persistent connection. ASCII only;
 * `undefined` if a part contains an invalid character.
 */
export function requestHeadWriter(request: RequestHead): WriteRequestHead | undefined {
  const { target, host, userAgent, headers } = request;
  if (!TARGET.test(target) || !HOST.test(host) || !VALUE.test(userAgent)) return undefined;
  const before = `POST ${target} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: `;
  let after = '\r\n';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    after += `${name}: ${value}\r\n`;
  }
  after += `user-agent: ${userAgent}\r\naccept: */*\r\naccept-encoding: identity\r\nconnection: keep-alive\r\n\r\n`;
  return (bodyBytes, more) =>
    before + bodyBytes + (more === undefined ? after : `${linesOf(more)}${after}`);
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (NAME.test(name) && VALUE.test(value)) lines += `\r\n${name}: ${value}`;
  }
  return lines;
}
