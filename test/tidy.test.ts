// Architecture tests: which folder may import which, what the pure layers must not use, and what
// must appear in no file. Rules are data, and each has an example that breaks it, so that a rule
// which catches nothing fails too.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { AVOIDED_WORDS, proseOf } from './support/plain-words.ts';

const root = resolve(import.meta.dir, '..');

type SourceFile = {
  /** Relative to the repository. */
  readonly path: string;
  /** The first folder below src/, or the file's own name where it has none. */
  readonly folder: string;
  readonly text: string;
  /** The text without comments and with string contents kept; lines stay where they are. */
  readonly code: string;
};

const sources = [...scan('src/**/*.ts'), ...scan('src/**/*.tsx')].filter(
  (file) => !file.path.endsWith('.d.ts'),
);
const everything = [
  ...sources,
  ...scan('{test,scripts,drizzle}/**/*'),
  ...scan('.ci/*'),
  ...scan('.github/*'),
  ...scan('*'),
].filter(({ path }) => path !== 'test/tidy.test.ts' && !/^\.env(\.local)?$/.test(path));

/**
 * What pages show as code for other people's programs: it is text, and no rule of ours is about it.
 */
const SHOWN_CODE = /^src\/web\/customer\/(keys\/snippets|playground\/code)\.ts$/;

type Layer = {
  /** Folders of src/ that this one may import from, its own aside. */
  readonly folders: readonly string[];
  /** Packages it may import; a name that ends in `:` is a whole family. */
  readonly packages: readonly string[];
  /** Packages allowed in files whose path matches. */
  readonly packagesIn?: readonly { readonly path: RegExp; readonly packages: readonly string[] }[];
};

const PLATFORM = ['node:', 'bun:', 'bun'];
const TYPEBOX = ['@sinclair/typebox'];
const DOMAINS = [
  ...['identity', 'catalog', 'limits', 'ledger', 'reasoning', 'idempotency', 'refusals'],
];
const domain: Layer = {
  folders: ['core', 'store', 'async'],
  packages: [...PLATFORM, 'drizzle-orm', ...TYPEBOX],
};

/** A folder that is not here, `cli`, may import anything. */
const LAYERS: Readonly<Record<string, Layer>> = {
  core: { folders: [], packages: [] },
  async: { folders: [], packages: [] },
  wire: {
    folders: ['core'],
    packages: [],
    packagesIn: [
      // What a request may hold: its checks, its body, the entries of `messages`, tools.
      {
        path: /^src\/wire\/(check|\w+\/(request|message|image|tool)[\w-]*)\.ts$/,
        packages: TYPEBOX,
      },
    ],
  },
  store: {
    folders: ['core', 'async'],
    packages: [...PLATFORM, 'drizzle-orm', 'ioredis', 'postgres'],
  },
  ...Object.fromEntries(DOMAINS.map((name) => [name, domain])),
  catalog: { ...domain, packages: [...domain.packages, 'toml-eslint-parser'] },
  upstream: {
    folders: ['wire', 'core', 'async'],
    packages: [...PLATFORM, 'aws4fetch', 'google-auth-library'],
  },
  generate: {
    folders: [
      'identity',
      'catalog',
      'limits',
      'ledger',
      'reasoning',
      'upstream',
      'wire',
      'core',
      'async',
    ],
    packages: [...PLATFORM, 'gpt-tokenizer'],
  },
  http: {
    folders: [
      ...['generate', 'operations', 'identity', 'catalog', 'limits', 'ledger', 'wire', 'core'],
      ...['idempotency', 'refusals', 'async', 'version.ts'],
    ],
    packages: [...PLATFORM, 'elysia'],
  },
  config: { folders: ['core'], packages: PLATFORM },
  observe: { folders: ['core', 'async'], packages: [...PLATFORM, 'pino'] },
  mail: { folders: ['async'], packages: [...PLATFORM, 'nodemailer'] },
  cluster: {
    folders: [...DOMAINS, 'store', 'core', 'async'],
    packages: [...PLATFORM, 'drizzle-orm'],
  },
  // What the command line and the console do alike: steps over several domains.
  operations: {
    folders: [...DOMAINS, 'store', 'core', 'async'],
    packages: [...PLATFORM, 'drizzle-orm', ...TYPEBOX],
  },
  // What the server shares with the pages: types of records and texts.
  web: {
    folders: ['dashboard', 'core'],
    packages: ['preact', '@preact/signals', 'lucide', 'uqr', 'wouter-preact'],
  },
  dashboard: {
    folders: [
      'operations',
      'identity',
      'catalog',
      'limits',
      'ledger',
      'refusals',
      'store',
      'generate',
      'core',
      'async',
    ],
    packages: [...PLATFORM, 'elysia', '@elysiajs/stream', ...TYPEBOX],
    packagesIn: [
      // The build compiles messages; the formatter of compiled ones is part of the pages.
      { path: /^src\/dashboard\/texts\/translate\.ts$/, packages: ['icu-minify/format'] },
      { path: /^src\/dashboard\/texts\/compile\.ts$/, packages: ['icu-minify'] },
      { path: /^src\/dashboard\/texts\/extract\.ts$/, packages: ['@babel/parser'] },
    ],
  },
  docs: {
    folders: ['core', 'web'],
    packages: PLATFORM,
    packagesIn: [{ path: /^src\/docs\/render\.ts$/, packages: ['marked'] }],
  },
  // The description of the API, from the tables and schemas that serve it.
  openapi: { folders: ['http', 'dashboard', 'wire', 'core'], packages: TYPEBOX },
  // A second gateway, run and judged from outside: of the server it has how to start this program.
  selftest: {
    folders: ['async', 'core', 'store', 'server', 'version.ts'],
    packages: [...PLATFORM, 'drizzle-orm'],
  },
  // What runs a server. It never imports a command; commands may import its files.
  server: {
    folders: [
      ...[
        'dashboard',
        'docs',
        'openapi',
        'http',
        'mail',
        'observe',
        'cluster',
        'operations',
        'generate',
        'upstream',
      ],
      ...DOMAINS,
      ...['store', 'core'],
      ...['async', 'config', 'version.ts'],
    ],
    packages: [...PLATFORM, ...TYPEBOX],
  },
};

type Import = { readonly file: SourceFile; readonly specifier: string; readonly target: string };

const imports = sources.flatMap(importsOf);

describe('imports', () => {
  test.each(Object.entries(LAYERS))('%s imports only what its layer may', (folder, layer) => {
    const offenders = imports
      .filter(({ file }) => file.folder === folder)
      .filter((found) => !isAllowed(found, layer) && !SHOWN_CODE.test(found.file.path))
      .map(({ file, specifier }) => `${file.path} imports ${specifier}`);
    expect(offenders).toEqual([]);
  });

  test('an import that the table forbids is found', () => {
    const file = sample('src/limits/sample.ts', "import { spend } from '../ledger/ledger.ts';");
    expect(importsOf(file).filter((found) => !isAllowed(found, domain))).toHaveLength(1);
    const typed = sample('src/core/sample.ts', "import type { A } from 'elysia';");
    const core = LAYERS['core'] ?? domain;
    expect(importsOf(typed).filter((found) => !isAllowed(found, core))).toHaveLength(1);
  });

  test('pages import from the server the types of its records and the texts alone', () => {
    const foreign = (all: readonly Import[]) =>
      all
        .filter(({ file, specifier }) => isWeb(file.path) && specifier.startsWith('.'))
        .filter(
          ({ target }) =>
            !isWeb(target) &&
            !/^src\/(dashboard\/(records|texts)\/|core\/service\.ts)/.test(target),
        )
        .map(({ file, specifier }) => `${file.path} imports ${specifier}`);
    expect(foreign(imports)).toEqual([]);
    const page = sample('src/web/a.ts', "import { b } from '../dashboard/edge/page.ts';");
    expect(foreign(importsOf(page))).toHaveLength(1);
    const values = /^import (?!type\b)[^;]*?from '[./]*\/records\//m;
    expect("import { a } from '../../records/key.ts';").toMatch(values);
    const offenders = sources.filter(({ path, code }) => isWeb(path) && values.test(code));
    expect(offenders.map(({ path }) => path)).toEqual([]);
  });

  test('there are no cycles', () => {
    expect(findCycle(imports)).toEqual([]);
    const a = sample('src/core/a.ts', "import { b } from './b.ts';");
    const b = sample('src/core/b.ts', "import { a } from './a.ts';");
    expect(findCycle([a, b].flatMap(importsOf))).not.toEqual([]);
  });

  test('relative imports name the file with its extension', () => {
    const offenders = imports
      .filter(({ specifier }) => specifier.startsWith('.') && !/\.[a-z]+$/.test(specifier))
      .map(({ file, specifier }) => `${file.path} imports ${specifier}`);
    expect(offenders).toEqual([]);
  });
});

type Ban = {
  readonly name: string;
  readonly pattern: RegExp;
  /** Code that breaks the rule. */
  readonly example: string;
  /** Files the rule is about; all of src/ when absent. */
  readonly within?: RegExp;
  readonly except?: RegExp;
};

const PURE = /^src\/(core|wire)\//;

const BANS: readonly Ban[] = [
  { name: 'no default exports', pattern: /^export default\b/m, example: 'export default 1;' },
  { name: 'no `any`', pattern: /[:<,|(]\s*any\b|\bas any\b/, example: 'const a: any = 1;' },
  {
    name: 'no transfer-encoding header is set: the server frames bodies itself',
    pattern: /['"`]transfer-encoding['"`]?\s*[:,\]]/i,
    example: "headers.set('transfer-encoding', 'chunked')",
    // The body reader asks requests for it, the head reader answers.
    except: /^src\/(http\/body|wire\/http\/response-head|upstream\/.*)\.ts$/,
  },
  {
    name: 'core and wire have no clock',
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bset(Timeout|Interval|Immediate)\b/,
    example: 'Date.now()',
    within: PURE,
  },
  {
    name: 'core and wire have no randomness',
    pattern: /\bMath\.random\b|\bcrypto\b/,
    example: 'Math.random()',
    within: PURE,
  },
  {
    name: 'core and wire do no input or output',
    pattern: /\bfetch\(|\bBun\.(?!hash\b)|\bprocess\.|\bconsole\./,
    example: 'process.env.HOME',
    within: PURE,
  },
  {
    name: 'core and wire are synchronous',
    pattern: /\basync\b|\bawait\b|\bnew Promise\b/,
    example: 'async () => 1',
    within: PURE,
    // Counting yields on large texts.
    except: /^src\/core\/estimate\.ts$/,
  },
  {
    name: 'core and wire parse JSON right inside a `try`: text from outside may be anything',
    pattern: /(?<!\btry \{\s*(?:return|const \w+(?:: \w+)? =) (?:\{ value: )?)\bJSON\.parse\b/,
    example: 'const value = JSON.parse(text);',
    within: PURE,
    // Parses one string literal of a text that has been parsed before.
    except: /^src\/wire\/json-source\.ts$/,
  },
  {
    name: 'what repeats is `every`: it does not overlap, and says what happens to an error',
    pattern: /\bsetInterval\(/,
    example: 'setInterval(look, 1_000)',
    // A stream's heartbeat is on the path of each request, and a plain timer costs it less.
    except: /^src\/(async\/every|generate\/pump|web\/.*)\.tsx?$/,
  },
  {
    name: 'an object names its members: no literal is spread into it',
    pattern: /(?<!\{)\.\.\.\{/,
    example: 'createKeys({ ...{ database, clock }, plans })',
    within: /^src\//,
  },
  {
    name: 'the process environment is read where the process starts alone',
    pattern: /\bprocess\.env\b/,
    example: "process.env['PORT']",
    except: /^src\/(cli\/|main\.ts|server\/(upstreams|runtime)\.ts|dashboard\/web-build\.ts)/,
  },
  {
    name: 'nothing is printed except by the command line and the log',
    pattern: /\bconsole\.(log|error|warn|info|debug)|\bprocess\.std(out|err)\b/,
    example: "console.log('hello')",
    except: /^src\/(cli\/|observe\/|main\.ts|server\/serve\.ts)/,
  },
  {
    // The types of records come from files of the server, and with them the types of its runtime.
    name: 'pages use nothing that browsers lack',
    pattern: /\bBun\.|\bprocess\.(env|argv|cwd|exit|std)|\bBuffer\b|\bfrom '(node|bun):/,
    example: "import { join } from 'node:path';",
    within: /^src\/web\//,
  },
  {
    name: 'a thread that serves opens no connection that waits for a lock of SQLite',
    pattern: /\b(connectDatabase|openDatabase)\(\{|from 'bun:sqlite'/,
    example: "connectDatabase({ url, sync: 'normal' })",
    within: /^src\//,
    // How connections are opened; commands; the migration before a server listens; other threads.
    except:
      /^src\/(store\/|cli\/(context|export-import|backup|compact|doctor|migrate)\.ts|server\/(store|reader-thread|series-thread|self-audit-thread|retention-thread)\.ts|ledger\/thread\.ts)/,
  },
  {
    name: 'the store opens SQLite for a thread that serves without waiting',
    pattern: /\bopenDatabase\((?!\{ [^}]*\bwaits: false)/,
    example: "openDatabase({ url, sync: 'normal' })",
    within: /^src\/store\/serving-database\.ts$/,
  },
];

describe('source', () => {
  test.each(BANS.map((ban) => [ban.name, ban] as const))('%s', (_name, ban) => {
    expect(ban.example).toMatch(ban.pattern);
    const offenders = sources
      .filter(({ path }) => ban.within === undefined || ban.within.test(path))
      .filter(({ path }) => ban.except === undefined || !ban.except.test(path))
      .filter(({ path }) => !SHOWN_CODE.test(path))
      .flatMap((file) => linesMatching(file.path, file.code, ban.pattern));
    expect(offenders).toEqual([]);
  });

  test('an exported type name has one meaning: it is declared once', () => {
    expect(declaredTwice(sources)).toEqual([]);
    const a = sample('src/core/a.ts', 'export type Answer = string;');
    const b = sample('src/wire/b.ts', 'export type Answer = number;');
    const page = sample('src/web/c.ts', 'export type Answer = boolean;');
    expect(declaredTwice([a, b, page])).toEqual(['Answer: src/core/a.ts, src/wire/b.ts']);
  });

  test('no type has the name of one of the platform', () => {
    const shadows = (files: readonly SourceFile[]) =>
      typesOf(files)
        .filter(({ name }) => PLATFORM_TYPES.has(name))
        .map(({ name, path }) => `${path} declares ${name}`);
    expect(shadows(sources)).toEqual([]);
    expect(shadows([sample('src/core/a.ts', 'type Request = string;')])).toHaveLength(1);
    expect(shadows([sample('src/core/a.ts', 'type Node = string;')])).toHaveLength(1);
  });

  test('every file begins with a comment that says what it is', () => {
    const offenders = sources.filter(({ text }) => !text.startsWith('// '));
    expect(offenders.map(({ path }) => path)).toEqual([]);
  });

  test('no file repeats the name of its folder at the beginning of its own', () => {
    const repeats = (paths: readonly string[]) =>
      paths.filter((path) => /(?<=^|\/)(\w[\w-]*?)s?\/\1s?-[^/]*$/.test(path));
    expect(repeats(sources.map(({ path }) => path))).toEqual([]);
    expect(repeats(['src/server/server-store.ts', 'src/a/threads/thread-pool.ts'])).toHaveLength(2);
    expect(repeats(['src/server/serve.ts', 'src/server/store.ts'])).toEqual([]);
  });

  test('no file is longer than 300 lines', () => {
    const long = sources
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > 300);
    expect(long).toEqual([]);
  });

  test('no top-level await: it delays every importer of the file', () => {
    const offenders = sources.filter(
      ({ path, code }) => !SHOWN_CODE.test(path) && hasTopLevelAwait(code),
    );
    expect(offenders.map(({ path }) => path)).toEqual([]);
    expect(hasTopLevelAwait('const a = await b();')).toBe(true);
    expect(hasTopLevelAwait('if (a) {\n  await b();\n}')).toBe(true);
    expect(hasTopLevelAwait('export async function a() {\n  await b();\n}')).toBe(false);
  });
});

/** Globals of this runtime, and types of browsers that it does not have. */
const PLATFORM_TYPES: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...['Body', 'Client', 'Console', 'Credential', 'Document', 'Element', 'EventSource'],
  ...['History', 'Lock', 'Node', 'Option', 'Range', 'Selection', 'Storage', 'Text', 'Window'],
]);

/** Must be in no file at all, documents and the lockfile included. */
const NOWHERE: readonly Ban[] = [
  {
    name: 'no path of a developer machine',
    pattern: /(?<![\w.])\/(work|tmp|root|home\/\w+)\/\w/,
    example: ['', 'tmp', 'x'].join('/'),
  },
  {
    name: 'no registry host',
    pattern: /registry\.[a-z]+|npmjs|artifactory/i,
    example: 'https://registry.example',
  },
  {
    name: 'no reference to a document that is not in the repository',
    pattern: /\bdesign,? sections? \d|\bthe specification\b|\(specification,/i,
    example: '/** Classifies an answer (design section 4). */',
  },
];

describe('repository', () => {
  test.each(NOWHERE.map((ban) => [ban.name, ban] as const))('%s', (_name, ban) => {
    expect(ban.example).toMatch(ban.pattern);
    const offenders = everything.flatMap((file) =>
      linesMatching(file.path, file.text, ban.pattern),
    );
    expect(offenders).toEqual([]);
  });
});

/** The folders whose comments and strings keep to the words of the field. */
const PLAIN = /^(src|test|scripts)\//;

/** Lists the words, and the texts of licences, which are not ours. */
const NOT_PLAIN = /^test\/support\/plain-words\.ts$|^scripts\/release-steps\/licences\//;

describe('English', () => {
  test('comments and strings keep to the words of the field', () => {
    const offenders = everything
      .filter(({ path }) => PLAIN.test(path) && !NOT_PLAIN.test(path))
      .flatMap(({ path, text }) => linesMatching(path, readableText(path, text), AVOIDED_WORDS));
    expect(offenders).toEqual([]);
  });

  test('an avoided word is found in comments, strings, templates and page text alone', () => {
    const found = (code: string) => AVOIDED_WORDS.test(proseOf(code));
    const word = ['no', 'body'].join('');
    for (const code of [`// ${word}`, `/* ${word} */`, `f('${word}')`, `f("${word}")`]) {
      expect([code, found(code)]).toEqual([code, true]);
    }
    expect(found(`\`a \${b} ${word}\``)).toBe(true);
    expect(found(`<p>There is ${word}.</p>`)).toBe(true);
    expect(found(`const ${word} = /${word}/; f(\`\${${word}}\`, ${word});`)).toBe(false);
  });
});

/** What a reader reads of a file: prose of TypeScript, all of a script; recordings are data. */
function readableText(path: string, text: string): string {
  if (/\.tsx?$/.test(path)) return proseOf(text);
  return path.startsWith('scripts/') ? text : '';
}

function isWeb(path: string): boolean {
  return path.startsWith('src/web/');
}

type DeclaredType = { readonly name: string; readonly path: string; readonly exported: boolean };

function typesOf(files: readonly SourceFile[]): DeclaredType[] {
  return files.flatMap(({ path, code }) =>
    [...code.matchAll(/^(export )?(?:type|interface|(?:abstract )?class) (\w+)/gm)].map(
      ([, keyword, name = '']) => ({ name, path, exported: keyword !== undefined }),
    ),
  );
}

/** The pages are another program: a name may mean one thing there and one thing in the server. */
function declaredTwice(files: readonly SourceFile[]): string[] {
  const places = Map.groupBy(
    typesOf(files).filter(({ exported }) => exported),
    ({ name, path }) => `${isWeb(path) ? 'pages' : 'server'} ${name}`,
  );
  return [...places.values()]
    .filter(({ length }) => length > 1)
    .map((all) => `${all[0]?.name}: ${all.map(({ path }) => path).join(', ')}`);
}

/** The files that match, in a fixed order. */
function scan(pattern: string): SourceFile[] {
  const paths = [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true, onlyFiles: true })];
  return paths.sort().map((path) => sample(path, readFileSync(join(root, path), 'utf8')));
}

function sample(path: string, text: string): SourceFile {
  return { path, folder: path.split('/')[1] ?? path, text, code: withoutComments(text) };
}

/** Blanks comments that stand on lines of their own or after code; keeps the line count. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|\s)\/\/ .*$/gm, '$1');
}

/** Where the pattern matches, as `path:line` and the text of that line. */
function linesMatching(path: string, text: string, pattern: RegExp): string[] {
  const every = new RegExp(pattern.source, `${pattern.flags}g`);
  return [...text.matchAll(every)].map((match) => {
    const number = text.slice(0, match.index).split('\n').length;
    const line = text.split('\n')[number - 1] ?? '';
    return `${path}:${number} ${line.trim().slice(0, 100)}`;
  });
}

/** Imports, re-exports and dynamic imports, types included. */
function importsOf(file: SourceFile): Import[] {
  const found = file.code.matchAll(
    /^(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...found].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const target = specifier.startsWith('.')
      ? relative(root, resolve(root, dirname(file.path), specifier))
      : specifier;
    return { file, specifier, target };
  });
}

function isAllowed({ file, specifier, target }: Import, layer: Layer): boolean {
  if (specifier.startsWith('.')) {
    const folder = target.split('/')[1] ?? '';
    if (!target.startsWith('src/')) {
      // Migrations, and recorded streams for the self-test: texts that the executable contains.
      return layer.packages.length > 0 && /\.sql$|^test\/golden\/.*\.(sse|expected)$/.test(target);
    }
    return folder === file.folder || layer.folders.includes(folder);
  }
  const special = (layer.packagesIn ?? []).filter(({ path }) => path.test(file.path));
  const packages = [...layer.packages, ...special.flatMap((row) => row.packages)];
  return packages.some(
    (name) => specifier === name || specifier.startsWith(name.endsWith(':') ? name : `${name}/`),
  );
}

/** The files of one cycle, in order; empty when there is none. Type imports count as well. */
function findCycle(all: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { file, target } of all) {
    targets.set(file.path, [...(targets.get(file.path) ?? []), target]);
  }
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const target of targets.get(path) ?? []) {
      const cycle = visit(target, [...trail, path]);
      if (cycle.length > 0) return cycle;
    }
    done.add(path);
    return [];
  };
  for (const path of targets.keys()) {
    const cycle = visit(path, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

/** A statement that begins in the first column and awaits without being asynchronous itself. */
function hasTopLevelAwait(code: string): boolean {
  return code
    .split(/\n(?=[a-z])/)
    .some((statement) => /\bawait\b/.test(statement) && !/\basync\b/.test(statement));
}
