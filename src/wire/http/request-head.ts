// The head of an HTTP/1.1 request, as text. Called by the connection client once for each place that
// requests go to. It never writes a value that could end its line, and does not repair one.

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII with spaces and tabs inside, or nothing. */
const VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;
/** What the URL parser lets stand in a path and its query. */
const TARGET = /^\/[\x21-\x7e]*$/;
const HOST = /^[\x21-\x7e]+$/;

type RequestHead = {
  /** Path and query. */
  readonly target: string;
  /** The name with its port where it is not the scheme's, and the brackets of IPv6. */
  readonly host: string;
  readonly userAgent: string;
  /** Beside those that frame the request or say who asks; these are written here. */
  readonly headers: Readonly<Record<string, string>>;
};

export type WriteRequestHead = (bodyBytes: number) => string;

/**
 * A POST that asks for an answer as it is (`identity`) on a connection that stays. ASCII only;
 * `undefined` where a part has a character that it must not have.
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
  return (bodyBytes) => before + bodyBytes + after;
}
