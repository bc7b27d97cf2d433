// Edits of TOML text: the result says what was wanted, and every comment, empty line and value that
// an edit does not concern stays byte for byte where it was.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { editToml, plainDocument } from '../../src/catalog/toml-edit.ts';

type Document = Record<string, unknown>;

/** A block of text, the key that it is for, and the keys that its value has in the document. */
type Block = { readonly key: string; readonly text: string; readonly value: unknown };

const word = fc.stringMatching(/^[a-z][a-z0-9 "\\#=[\]{},é]{0,12}$/);
const scalar = fc.oneof(
  word,
  fc.integer({ min: -1_000_000, max: 1_000_000 }),
  fc.boolean(),
  fc.constantFrom('$NAME', 'two\nlines', '2026-12-01T00:00:00Z', '', 0.25, 1e21),
);
const words = fc.uniqueArray(word, { maxLength: 4 });
const rates = fc.record(
  { input: word, output: word, cached: scalar },
  { requiredKeys: ['input', 'output'] },
);
const served = fc.array(fc.record({ upstream: word, model: scalar, weight: fc.nat(9) }), {
  minLength: 1,
  maxLength: 3,
});
const member = fc.oneof(scalar, words, rates, served);
const KEYS = [
  'created',
  'aliases',
  'max_output',
  'price',
  'served_by',
  'description',
  'quoted key',
];
const entry = fc.dictionary(fc.constantFrom(...KEYS), member, { minKeys: 1, maxKeys: 5 });

/** Writes a value in one of the ways that TOML has for it. */
function written(value: unknown, style: number): string {
  if (typeof value === 'string') {
    if (style % 3 === 1 && /^[a-z #=[\]{},é"\\]*$/.test(value)) return `'${value}'`;
    if (style % 3 === 2 && !value.includes('\r')) {
      return `"""\n${JSON.stringify(value).slice(1, -1).replaceAll('\\n', '\n')}"""`;
    }
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => written(item, 0));
    if (style % 2 === 0 || items.length === 0) return `[${items.join(', ')}]`;
    const last = style % 4 === 1 ? ',' : '';
    return `[ # of the list\n${items
      .map((item, at) => `    ${item}${at < items.length - 1 ? ',' : last} # item ${at}\n`)
      .join('')}    # end of the list\n  ]`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([key, each]) => `${key} = ${written(each, 0)}`);
  return style % 2 === 0 ? `{ ${members.join(', ')} }` : `{${members.join(',')}}`;
}

/** One key of a table, with a comment above and one behind it. */
function blockOf(key: string, value: unknown, style: number, tag: string): Block {
  const name = key.includes(' ') ? `"${key}"` : key;
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
  const lines =
    isTable && style % 3 === 0
      ? Object.entries(value).map(
          ([each, rate]) => `${name}.${each} = ${written(rate, 0)} # ${tag}`,
        )
      : [`${name}  =  ${written(value, style)} # ${tag}`];
  return { key, value, text: `  ${lines.join('\n  ')}\n` };
}

type Written = {
  readonly header: string;
  readonly blocks: readonly Block[];
  readonly name: string;
};

const tables = fc.array(fc.tuple(entry, fc.array(fc.nat(11), { minLength: 7, maxLength: 7 })), {
  minLength: 1,
  maxLength: 4,
});

function writtenTables(list: readonly (readonly [Document, readonly number[]])[]): Written[] {
  return list.map(([table, styles], at) => ({
    header: `[[model]] # header ${at}\n`,
    name: `m${at}`,
    blocks: Object.entries({ ...table, slug: `m${at}` }).map(([key, value], index) =>
      blockOf(key, value, styles[index] ?? 0, `${at}.${key}`),
    ),
  }));
}

function textOf(all: readonly Written[]): string {
  const models = all.map(
    ({ header, blocks }, at) =>
      `# above ${at}\n\n${header}${blocks.map(({ text, key }) => `  # on ${at}.${key}\n${text}`).join('\n')}`,
  );
  return `# top\n\n[service]\nname = "x"   # the name\n\n${models.join('\n')}\n# the plans\n[plan.free]\ndaily = 5 # a day\n# end\n`;
}

describe('a text changed to say another document', () => {
  const edits = fc.record({
    changed: fc.dictionary(fc.constantFrom(...KEYS), fc.option(member, { nil: undefined })),
    at: fc.nat(3),
    added: fc.option(entry, { nil: undefined }),
    removed: fc.option(fc.nat(3), { nil: undefined }),
    plan: fc.boolean(),
    isCrlf: fc.boolean(),
  });

  test('says it, and keeps what it does not concern', () => {
    fc.assert(
      fc.property(tables, edits, (list, edit) => {
        const all = writtenTables(list);
        const plain = textOf(all);
        const text = edit.isCrlf ? plain.replaceAll('\n', '\r\n') : plain;
        const before = plainDocument(text);
        const models = [...(before['model'] as Document[])];
        const target = models[edit.at];
        const kept = new Set(all.map(({ name }) => name));
        if (target !== undefined) {
          const next = Object.entries({ ...target, ...edit.changed });
          models[edit.at] = Object.fromEntries(next.filter(([, value]) => value !== undefined));
        }
        if (edit.removed !== undefined && models.length > 1 && models[edit.removed]) {
          kept.delete(String(models[edit.removed]?.['slug']));
          models.splice(edit.removed, 1);
        }
        if (edit.added) models.push({ slug: 'new', ...edit.added });
        const plan = edit.plan ? { ...Object(before['plan']), pro: { daily: 9 } } : before['plan'];
        const wanted = { ...before, model: models, plan };

        const edited = editToml(text, wanted);
        expect(edited).toBeDefined();
        expect(plainDocument(edited ?? '')).toEqual(wanted);
        if (edit.isCrlf) expect(edited?.replaceAll('\r\n', '')).not.toContain('\n');

        // What stays is found in its order, each piece after the one before it.
        const result = (edited ?? '').replaceAll('\r\n', '\n');
        let from = 0;
        const stays = (piece: string) => {
          const found = result.indexOf(piece, from);
          expect([piece, found >= from]).toEqual([piece, true]);
          from = found + piece.length;
        };
        stays('# top\n\n[service]\nname = "x"   # the name\n');
        for (const [at, { blocks, header, name }] of all.entries()) {
          stays(`# above ${at}\n`);
          if (!kept.has(name)) continue;
          stays(header);
          const now = models.find((model) => model['slug'] === name) ?? {};
          for (const { key, text: block, value } of blocks) {
            stays(`  # on ${at}.${key}\n`);
            if (Bun.deepEquals(now[key], plainDocument(`x = ${written(value, 0)}`)['x']))
              stays(block);
          }
        }
        stays('# the plans\n[plan.free]\ndaily = 5 # a day\n');
        stays('# end\n');
      }),
      { numRuns: 200 },
    );
  }, 30_000);

  test('and back again is the same text, but for empty lines', () => {
    fc.assert(
      fc.property(tables, scalar, (list, value) => {
        const text = textOf(writtenTables(list));
        const before = plainDocument(text);
        const models = before['model'] as Document[];
        const wanted = { ...before, model: [{ ...models[0], added: value }, ...models.slice(1)] };
        const edited = editToml(text, wanted) ?? '';
        expect(editToml(edited, before)).toBe(text);
        expect(editToml(text, before)).toBe(text);
      }),
      { numRuns: 100 },
    );
  });
});

const TEXT = `[[upstream]] # east
id = "east"
api_keys = [
  "$A", # first
  "$B" # second
]
price.input = "1" # dotted

# a header with nothing
[[upstream]]

[[model]]
slug = "swift"
served_by = [
  { upstream = "east", model = "a", cost = { input = "1" } }, # cheap
  { upstream = "west" }, # far
]
`;

test.each<[string, (document: Document) => void, readonly [string, string]]>([
  [
    'a value of a list',
    (d) => at(d, 'upstream', 0, 'api_keys').splice(0, 1, '$C'),
    ['"$A", # first', '"$C", # first'],
  ],
  [
    'a list that is longer, as a whole',
    (d) => at(d, 'upstream', 0, 'api_keys').push('$C'),
    ['[\n  "$A", # first\n  "$B" # second\n]', '["$A", "$B", "$C"]'],
  ],
  [
    'a table of dotted keys, as a whole',
    (d) => Object.assign(at(d, 'upstream', 0, 'price'), { output: '2' }),
    ['price.input = "1" # dotted\n', 'price = { input = "1", output = "2" }\n'],
  ],
  [
    'a member deep within',
    (d) => Object.assign(at(d, 'model', 0, 'served_by', 0, 'cost'), { input: '2', output: '3' }),
    ['{ input = "1" }', '{ input = "2", output = "3" }'],
  ],
  [
    'an inline table that loses a member',
    (d) => delete at(d, 'model', 0, 'served_by', 0).cost,
    [', cost = { input = "1" } }, # cheap', ' }, # cheap'],
  ],
])('changes %s', (_, change, [from, to]) => {
  const wanted = structuredClone(plainDocument(TEXT));
  change(wanted);
  expect(editToml(TEXT, wanted)).toBe(TEXT.replace(from, to));
});

// biome-ignore lint/suspicious/noExplicitAny: reaches into a document of any shape.
function at(document: Document, ...path: readonly (string | number)[]): any {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return path.reduce((value: any, key) => value[key], document);
}

test('adds to a file without a newline at its end, and to an empty one', () => {
  const model = { slug: 'a', max_output: 1 };
  expect(editToml('[[model]]\nslug = "a"', { model: [model] })).toBe(
    '[[model]]\nslug = "a"\nmax_output = 1',
  );
  expect(editToml('', { plan: { free: { daily: 1 } } })).toBe('\n[plan.free]\ndaily = 1\n');
});

test('leaves what is no entry, or is written without a header, to its owner', () => {
  expect(editToml('a = 1', { a: 2 })).toBeUndefined();
  expect(editToml('plan.free.daily = 1', { plan: { free: { daily: 2 } } })).toBeUndefined();
  expect(editToml('model = [{ slug = "a" }]', { model: [] })).toBeUndefined();
});
