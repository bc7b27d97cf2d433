// HTTP responses as servers write them, valid and invalid, with the expected result for any split
// of their bytes. Used by the tests of the decoder and of the client.

export type Outcome =
  /** A whole answer; `reusable` says whether its connection may carry another request. */
  | { readonly status: number; readonly body: string; readonly reusable: boolean }
  /** A part of the words of the fault. */
  | { readonly fault: string }
  /** More bytes would have to come; the connection's end makes it one of the others. */
  | 'waits';

/** Name, bytes (as Latin-1), what they are, and what they are once the server has closed. */
export type Row = readonly [string, string, Outcome, Outcome?];

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const withField = (text: string): Row[1] => `${OK}${text}\r\ncontent-length: 5\r\n\r\nHello`;
const hello = (reusable = true): Outcome => ({ status: 200, body: 'Hello', reusable });
const CUT: Outcome = { fault: 'closed before it was complete' };

const LENGTHS: readonly Row[] = [
  ['a length', `${OK}content-length: 5\r\n\r\nHello`, hello()],
  ['no body at all', `${OK}content-length: 0\r\n\r\n`, { status: 200, body: '', reusable: true }],
  ['names in capitals', `${OK}CONTENT-LENGTH: 5\r\n\r\nHello`, hello()],
  ['no space after a colon', `${OK}content-length:5\r\n\r\nHello`, hello()],
  ['tabs and spaces around a value', `${OK}content-length:\t 5 \t\r\n\r\nHello`, hello()],
  ['leading zeros', `${OK}content-length: 0005\r\n\r\nHello`, hello()],
  ['one length twice', `${OK}content-length: 5\r\ncontent-length: 5\r\n\r\nHello`, hello()],
  ['one length twice in a line', `${OK}content-length: 5, 5\r\n\r\nHello`, hello()],
  ['two lengths', `${OK}content-length: 5\r\ncontent-length: 6\r\n\r\nHello`, { fault: 'two len' }],
  ['two lengths in a line', `${OK}content-length: 5, 6\r\n\r\nHello`, { fault: 'two lengths' }],
  ['an empty length', `${OK}content-length:\r\n\r\nHello`, { fault: 'not a number' }],
  ['an empty one of two', `${OK}content-length: 5,\r\n\r\nHello`, { fault: 'two lengths' }],
  ['a negative length', `${OK}content-length: -1\r\n\r\n`, { fault: 'not a number' }],
  ['a length with a plus', `${OK}content-length: +5\r\n\r\nHello`, { fault: 'not a number' }],
  ['a length in hexadecimal', `${OK}content-length: 0x5\r\n\r\nHello`, { fault: 'not a number' }],
  ['a length with a point', `${OK}content-length: 5.0\r\n\r\nHello`, { fault: 'not a number' }],
  ['a length with a space', `${OK}content-length: 5 5\r\n\r\nHello`, { fault: 'not a number' }],
  ['a length beyond numbers', `${OK}content-length: ${'9'.repeat(16)}\r\n\r\n`, { fault: 'not a' }],
  ['a length in other digits', `${OK}content-length: \xb2\r\n\r\n`, { fault: 'not a number' }],
  ['a no-break space', `${OK}content-length: 5\xa0\r\n\r\nHello`, { fault: 'not a number' }],
  ['a body that is short', `${OK}content-length: 6\r\n\r\nHello`, 'waits', CUT],
  ['bytes after the body', `${OK}content-length: 5\r\n\r\nHello!`, hello(false)],
  ['an unrequested answer', `${OK}content-length: 5\r\n\r\nHello${OK}`, hello(false)],
];

const chunked = (body: string, reusable = true): Outcome => ({ status: 200, body, reusable });

const CHUNKS: readonly Row[] = [
  ['one chunk', `${CHUNKED}5\r\nHello\r\n0\r\n\r\n`, chunked('Hello')],
  ['three chunks', `${CHUNKED}2\r\nHe\r\n2\r\nll\r\n1\r\no\r\n0\r\n\r\n`, chunked('Hello')],
  ['no chunk', `${CHUNKED}0\r\n\r\n`, chunked('')],
  [
    'hexadecimal of both cases',
    `${CHUNKED}a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n`,
    chunked('01234567890123456789'),
  ],
  ['zeros before a size', `${CHUNKED}0005\r\nHello\r\n000\r\n\r\n`, chunked('Hello')],
  [
    'the coding in capitals',
    `${OK}Transfer-Encoding: Chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n`,
    chunked('Hello'),
  ],
  ['an extension', `${CHUNKED}5;name=value\r\nHello\r\n0;last\r\n\r\n`, chunked('Hello')],
  ['an extension with text', `${CHUNKED}5 ; a="b;c" \r\nHello\r\n0\r\n\r\n`, chunked('Hello')],
  ['spaces after a size', `${CHUNKED}5  \r\nHello\r\n0 \r\n\r\n`, chunked('Hello')],
  ['trailers', `${CHUNKED}5\r\nHello\r\n0\r\nexpires: never\r\netag:\r\n\r\n`, chunked('Hello')],
  [
    'line ends inside a chunk',
    `${CHUNKED}7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n`,
    chunked('\r\n0\r\n\r\n'),
  ],
  ['bytes after the last chunk', `${CHUNKED}5\r\nHello\r\n0\r\n\r\nX`, chunked('Hello', false)],
  ['no last chunk', `${CHUNKED}5\r\nHello\r\n`, 'waits', CUT],
  ['no empty line at the end', `${CHUNKED}5\r\nHello\r\n0\r\n`, 'waits', CUT],
  ['half of a chunk', `${CHUNKED}5\r\nHel`, 'waits', CUT],
  ['a size without a digit', `${CHUNKED}\r\nHello`, { fault: 'size of a chunk' }],
  ['a size that is a word', `${CHUNKED}five\r\nHello`, { fault: 'size of a chunk' }],
  ['a size with 0x', `${CHUNKED}0x5\r\nHello`, { fault: 'size of a chunk' }],
  ['a negative size', `${CHUNKED}-5\r\nHello`, { fault: 'size of a chunk' }],
  ['a space before a size', `${CHUNKED} 5\r\nHello`, { fault: 'size of a chunk' }],
  ['two sizes', `${CHUNKED}5 5\r\nHello`, { fault: 'size of a chunk' }],
  ['a size of 17 digits', `${CHUNKED}${'f'.repeat(17)}\r\nHello`, { fault: 'size of a chunk' }],
  [
    'a size beyond 32 bits that wraps to 5',
    `${CHUNKED}10000000000000005\r\nHello`,
    { fault: 'size of a chunk' },
  ],
  ['endless zeros', `${CHUNKED}${'0'.repeat(5_000)}`, { fault: 'size of a chunk' }],
  ['an endless extension', `${CHUNKED}5;${'x'.repeat(5_000)}`, { fault: 'size of a chunk' }],
  [
    'a bare line feed after a size',
    `${CHUNKED}5\nHello\r\n0\r\n\r\n`,
    { fault: 'size of a chunk' },
  ],
  ['a bare return after a size', `${CHUNKED}5\rXHello\r\n0\r\n\r\n`, { fault: 'size of a chunk' }],
  ['a line feed in an extension', `${CHUNKED}5;a\nb\r\nHello`, { fault: 'size of a chunk' }],
  ['a NUL in an extension', `${CHUNKED}5;a\0b\r\nHello`, { fault: 'size of a chunk' }],
  ['a chunk longer than its size', `${CHUNKED}5\r\nHello!\r\n0\r\n\r\n`, { fault: 'does not end' }],
  ['two bytes that are no line end', `${CHUNKED}5\r\nHelloXX0\r\n\r\n`, { fault: 'does not end' }],
  ['a bare line feed after a chunk', `${CHUNKED}5\r\nHello\n0\r\n\r\n`, { fault: 'does not end' }],
  ['a trailer without a colon', `${CHUNKED}0\r\nHTTP/1.1 200 OK\r\n\r\n`, { fault: 'trailer' }],
  ['a trailer without a name', `${CHUNKED}0\r\n: x\r\n\r\n`, { fault: 'trailer' }],
  ['a folded trailer', `${CHUNKED}0\r\na: b\r\n c\r\n\r\n`, { fault: 'trailer' }],
  ['a bare line feed in a trailer', `${CHUNKED}0\r\na: b\nc: d\r\n\r\n`, { fault: 'trailer' }],
  ['endless trailers', `${CHUNKED}0\r\n${'a: b\r\n'.repeat(4_000)}`, { fault: 'trailer' }],
];

const CODINGS: readonly Row[] = [
  [
    'a length beside chunks',
    `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`,
    { fault: 'both' },
  ],
  [
    'the same the other way round',
    `${OK}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n`,
    { fault: 'both' },
  ],
  [
    'chunked twice',
    `${OK}transfer-encoding: chunked, chunked\r\n\r\n`,
    { fault: 'transfer coding' },
  ],
  [
    'chunked in two fields',
    `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`,
    { fault: 'transfer coding' },
  ],
  [
    'gzip before chunked',
    `${OK}transfer-encoding: gzip, chunked\r\n\r\n`,
    { fault: 'transfer coding' },
  ],
  [
    'chunked before gzip',
    `${OK}transfer-encoding: chunked, gzip\r\n\r\n`,
    { fault: 'transfer coding' },
  ],
  ['identity', `${OK}transfer-encoding: identity\r\n\r\nHello`, { fault: 'transfer coding' }],
  ['an empty coding', `${OK}transfer-encoding:\r\n\r\nHello`, { fault: 'transfer coding' }],
  [
    'a coding with a parameter',
    `${OK}transfer-encoding: chunked;q=1\r\n\r\n`,
    { fault: 'transfer coding' },
  ],
  [
    'a coding that only ends so',
    `${OK}transfer-encoding: xchunked\r\n\r\n`,
    { fault: 'transfer coding' },
  ],
  [
    'a vertical tab in a coding',
    `${OK}transfer-encoding: \x0bchunked\r\n\r\n`,
    { fault: 'forbidden' },
  ],
  [
    'chunks over HTTP/1.0',
    'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    { fault: 'HTTP/1.0' },
  ],
];

const CLOSED = (body: string): Outcome => ({ status: 200, body, reusable: false });

const CONNECTIONS: readonly Row[] = [
  ['neither length nor chunks', `${OK}\r\nHello`, 'waits', CLOSED('Hello')],
  ['HTTP/1.0 without a length', 'HTTP/1.0 200 OK\r\n\r\nHello', 'waits', CLOSED('Hello')],
  ['HTTP/1.0 with a length', 'HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nHello', hello(false)],
  [
    'HTTP/1.0 that stays',
    'HTTP/1.0 200 OK\r\ncontent-length: 5\r\nconnection: Keep-Alive\r\n\r\nHello',
    hello(),
  ],
  ['a close', withField('connection: close'), hello(false)],
  ['a close among others', withField('connection: foo, Close'), hello(false)],
  [
    'a close in a second field',
    withField('connection: keep-alive\r\nconnection: close'),
    hello(false),
  ],
  ['a name that only begins so', withField('connection: closed'), hello()],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', reusable: true }],
  [
    'no content with a length',
    'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nHello',
    { status: 204, body: '', reusable: false },
  ],
  [
    'not modified with a length',
    'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n',
    { status: 304, body: '', reusable: true },
  ],
];

const HEADS: readonly Row[] = [
  ['no reason', 'HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\nHello', hello()],
  ['no space for a reason', 'HTTP/1.1 200\r\ncontent-length: 5\r\n\r\nHello', hello()],
  [
    'a reason with other letters',
    'HTTP/1.1 200 \xfcber\r\ncontent-length: 5\r\n\r\nHello',
    hello(),
  ],
  ['a value with other letters', withField('x: \xfc'), hello()],
  [
    'an answer before the answer',
    `HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 5\r\n\r\nHello`,
    hello(),
  ],
  [
    'early hints',
    `HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n${OK}content-length: 5\r\n\r\nHello`,
    hello(),
  ],
  [
    'eight of them',
    `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(8)}${OK}content-length: 5\r\n\r\nHello`,
    hello(),
  ],
  ['nine of them', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(9), { fault: 'before the answer' }],
  [
    'a change of protocol',
    'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n',
    { fault: 'another protocol' },
  ],
  ['256 fields', `${OK}${'a: b\r\n'.repeat(255)}content-length: 5\r\n\r\nHello`, hello()],
  [
    '257 fields',
    `${OK}${'a: b\r\n'.repeat(256)}content-length: 5\r\n\r\nHello`,
    { fault: '256 fields' },
  ],
  ['a head that is too large', `${OK}a: ${'x'.repeat(65_536)}\r\n\r\n`, { fault: '65536 bytes' }],
  ['a head without an end', `${OK}a: ${'x'.repeat(70_000)}`, { fault: '65536 bytes' }],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', { fault: 'status line' }],
  ['TLS', '\x15\x03\x01\x00\x02\x02\x46', { fault: 'status line' }],
  ['an empty line first', `\r\n${OK}content-length: 5\r\n\r\nHello`, { fault: 'status line' }],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n', { fault: 'status line' }],
  ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n', { fault: 'status line' }],
  ['a version of two digits', 'HTTP/1.10 200 OK\r\n\r\n', { fault: 'status line' }],
  ['http in small letters', 'http/1.1 200 OK\r\n\r\n', { fault: 'status line' }],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', { fault: 'status line' }],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', { fault: 'status line' }],
  ['a status above 599', 'HTTP/1.1 600 OK\r\n\r\n', { fault: 'status line' }],
  ['two spaces before a status', 'HTTP/1.1  200 OK\r\n\r\n', { fault: 'status line' }],
  ['no status', 'HTTP/1.1\r\n\r\n', { fault: 'status line' }],
  ['bare line feeds', 'HTTP/1.1 200 OK\ncontent-length: 5\n\nHello', { fault: 'line end' }],
  ['a bare line feed', withField('a: b\nc: d'), { fault: 'line end' }],
  ['a bare return', withField('a: b\rc: d'), { fault: 'line end' }],
  ['a return before a line end', withField('a: b\r'), { fault: 'line end' }],
  ['a NUL in a value', withField('a: \0'), { fault: 'forbidden character' }],
  ['a NUL in a name', withField('a\0: b'), { fault: 'forbidden character' }],
  ['a DEL in a value', withField('a: \x7f'), { fault: 'forbidden character' }],
  ['a folded value', withField('a: b\r\n c'), { fault: 'no name' }],
  ['a fold with a tab', withField('a: b\r\n\tc: d'), { fault: 'no name' }],
  ['a fold right after the status', withField(' a: b'), { fault: 'no name' }],
  ['a space before a colon', withField('content-length : 5'), { fault: 'wrong one' }],
  ['a field without a colon', withField('abc'), { fault: 'no name' }],
  ['a field without a name', withField(': b'), { fault: 'no name' }],
  ['a name with a bracket', withField('a(b): c'), { fault: 'wrong one' }],
  ['a name with other letters', withField('\xfc: c'), { fault: 'wrong one' }],
  ['nothing', '', 'waits', CUT],
  ['half of a status line', 'HTTP/1.', 'waits', CUT],
  ['half of a head', `${OK}content-le`, 'waits', CUT],
  ['half of a line end', `${OK}content-length: 5\r\n\r`, 'waits', CUT],
  ['nothing after an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n', 'waits', CUT],
];

export const CORPUS: readonly Row[] = [...LENGTHS, ...CHUNKS, ...CODINGS, ...CONNECTIONS, ...HEADS];
