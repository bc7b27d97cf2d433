// Writes archives whose bytes depend on their content alone: tar (POSIX.1-1988 ustar), gzip, and ar
// (the System V format of Debian's packages).

export type Entry = {
  /** Relative, without a leading slash; at most 100 bytes. */
  readonly path: string;
  readonly mode: number;
  /** A file where present; otherwise a folder, or a link where `link` is. */
  readonly content?: Uint8Array | string;
  readonly link?: string;
  /** 0 by default. */
  readonly owner?: number;
};

const BLOCK = 512;
const PATH_BYTES_MAX = 100;

/** `seconds` is the time of every entry, in Unix seconds. */
export function tar(entries: readonly Entry[], seconds: number): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    const content = bytesOf(entry.content ?? '');
    parts.push(header(entry, content.length, seconds), content);
    parts.push(new Uint8Array((BLOCK - (content.length % BLOCK)) % BLOCK));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  return concat(parts);
}

export function tarGz(entries: readonly Entry[], seconds: number): Uint8Array {
  return gzip(tar(entries, seconds));
}

/** Bun's gzip writes no time and no name. Level 9 is for texts, which Debian wants as small as possible. */
export function gzip(bytes: Uint8Array, level: 6 | 9 = 6): Uint8Array {
  return Bun.gzipSync(new Uint8Array(bytes), { level });
}

export type Member = { readonly name: string; readonly content: Uint8Array };

export function ar(members: readonly Member[], seconds: number): Uint8Array {
  const parts: Uint8Array[] = [bytesOf('!<arch>\n')];
  for (const { name, content } of members) {
    const fields = [
      ...[name.padEnd(16), String(seconds).padEnd(12), '0'.padEnd(6), '0'.padEnd(6)],
      ...['100644'.padEnd(8), String(content.length).padEnd(10), '`\n'],
    ];
    parts.push(bytesOf(fields.join('')), content);
    if (content.length % 2 === 1) parts.push(bytesOf('\n'));
  }
  return concat(parts);
}

function header(entry: Entry, size: number, seconds: number): Uint8Array {
  const isFile = entry.content !== undefined;
  const type = isFile ? '0' : entry.link === undefined ? '5' : '2';
  const path = type === '5' && !entry.path.endsWith('/') ? `${entry.path}/` : entry.path;
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new Error(`The path is too long: ${path}`);
  const owner = entry.owner ?? 0;
  const name = owner === 0 ? 'root' : '';
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0);
  block.write(octal(entry.mode, 7), 100);
  block.write(octal(owner, 7), 108);
  block.write(octal(owner, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(seconds, 11), 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write(entry.link ?? '', 157);
  block.write('ustar\u000000', 257);
  block.write(name, 265);
  block.write(name, 297);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');

export function bytesOf(content: Uint8Array | string): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
