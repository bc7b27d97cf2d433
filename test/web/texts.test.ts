// The texts of the pages: all pass through the catalogues, and each message formats in each
// language with the arguments of its calls.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import compile from 'icu-minify/compile';
import { say } from '../../src/core/sentence.ts';
import { LANGUAGES } from '../../src/core/service.ts';
import { compileCatalogue, TRANSLATIONS } from '../../src/dashboard/texts/compile.ts';
import {
  extractMessages,
  SENTENCE_FOLDERS,
  TEXT_FOLDERS,
} from '../../src/dashboard/texts/extract.ts';
import { chooseLanguage } from '../../src/dashboard/texts/language.ts';
import {
  translate,
  translateRich,
  translateSentence,
} from '../../src/dashboard/texts/translate.ts';

const SOURCES = join(import.meta.dir, '../../src');
const found = await extractMessages(SOURCES, [...TEXT_FOLDERS, ...SENTENCE_FOLDERS]);
const texts = found.messages.map(({ text }) => text);

describe('messages', () => {
  test('all texts of the pages pass through t or rich', () => {
    expect(found.untranslated).toEqual([]);
    expect(texts.length).toBeGreaterThan(1_000);
  });

  test('each names the arguments that its call passes, and no others', () => {
    const wrong = found.messages
      .filter(({ text, names }) => {
        const wanted = [...argumentsOf(text)].sort().join();
        return names !== undefined && wanted !== [...new Set(names)].sort().join();
      })
      .map(({ file, line, text }) => `${file}:${line}: ${text}`);
    expect(wrong).toEqual([]);
  });

  test('an English text without arguments needs no entry', () => {
    expect(compileCatalogue('en', ['Plain text', "It doesn't"]).messages).toEqual({});
  });
});

describe('translation', () => {
  const { language, messages } = compileCatalogue('en', [
    '{count, plural, one {# request} other {# requests}} of {name}',
    'See <link>your {what}</link> at {when}.',
  ]);
  const english = { language, messages };

  test('selects plurals and fills in arguments', () => {
    const text = '{count, plural, one {# request} other {# requests}} of {name}';
    expect(translate(english, text, { count: 1, name: 'a' })).toBe('1 request of a');
    expect(translate(english, text, { count: 1_234, name: 'b' })).toBe('1,234 requests of b');
  });

  test('keeps nodes as they are, inside tags too', () => {
    const parts = translateRich<object>(english, 'See <link>your {what}</link> at {when}.', {
      link: (text) => ({ text }),
      what: { node: 1 },
      when: { node: 2 },
    });
    expect(parts).toEqual(['See ', { text: ['your ', { node: 1 }] }, ' at ', { node: 2 }, '.']);
  });

  test('says a sentence of the server with its values, and in English without a catalogue', () => {
    const sentence = say(
      'upstream {upstream} fails for {model}; its circuit breaker is open{said}',
      {
        ...{ upstream: 'east', model: "it's {model}" },
        said: say('; it said "{said}"', { said: '<b>' }),
      },
    );
    const german = compileCatalogue('de', texts);
    expect(translateSentence(german, sentence)).toBe(
      "Upstream east ist für it's {model} gestört; sein Circuit Breaker ist offen; er antwortete „<b>“",
    );
    expect(translateSentence(english, sentence)).toBe(
      'upstream east fails for it\'s {model}; its circuit breaker is open; it said "<b>"',
    );
  });

  test('never interprets the text of an argument', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const text = '{count, plural, one {# request} other {# requests}} of {name}';
        expect(translate(english, text, { count: 2, name })).toBe(`2 requests of ${name}`);
      }),
    );
  });
});

describe.each(Object.entries(TRANSLATIONS))('the translations of %s', (language, translations) => {
  const entries = Object.entries(translations);
  const wrong = (isWrong: (text: string, translation: string) => boolean) =>
    entries.filter(([text, translation]) => isWrong(text, translation));

  test('are complete', () => {
    expect(texts.filter((text) => translations[text] === undefined)).toEqual([]);
  });

  test('are all used', () => {
    const used = new Set(texts);
    expect(wrong((text) => !used.has(text))).toEqual([]);
  });

  test('have the arguments and tags of their messages', () => {
    const names = (text: string) => [...argumentsOf(text)].sort().join();
    expect(wrong((text, translation) => names(text) !== names(translation))).toEqual([]);
  });

  test('have the plural categories of the language, each exactly once', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    const categories = [...pluralCategories].sort().join();
    expect(
      wrong((_, translation) => pluralsOf(translation).some((each) => each !== categories)),
    ).toEqual([]);
    expect(
      wrong((text, translation) => pluralsOf(text).length !== pluralsOf(translation).length),
    ).toEqual([]);
  });

  test('begin and end with the same space, which Chinese may omit', () => {
    const edges = (text: string) => [/^\s*/, /\s*$/].map((edge) => edge.exec(text)?.[0]).join('|');
    const allowed = (text: string) => (language === 'zh' ? [edges(text), '|'] : [edges(text)]);
    expect(wrong((text, translation) => !allowed(text).includes(edges(translation)))).toEqual([]);
  });

  test('are not English', () => {
    const words = (text: string) => text.replace(/\{\w+\}/g, '').match(/\p{Lu}?\p{Ll}+/gu) ?? [];
    expect(wrong((text, translation) => text === translation && words(text).length > 2)).toEqual(
      [],
    );
  });

  test('have typographic quotes and apostrophes', () => {
    expect(wrong((_, translation) => /["']/.test(translation))).toEqual([]);
  });
});

test('Chinese has full-width punctuation, and a space beside Latin letters and digits', () => {
  const isWrong = (text: string) =>
    /\p{Script=Han}[,;:!?()]|[,;:!?()]\p{Script=Han}|\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u.test(
      // Code of messages is not text: `{name, plural, other {…}}`.
      text.replace(/\{\w+, (?:plural|select),/g, '').replace(/(\w+) \{([^{}]*)\}/g, '$2'),
    );
  expect(Object.values(TRANSLATIONS.zh).filter(isWrong)).toEqual([]);
});

describe('the language of a visitor', () => {
  const choose = (headers: Record<string, string>) =>
    chooseLanguage(new Headers(headers), LANGUAGES);

  test('is the chosen one, else the best accepted one, else the first', () => {
    expect(choose({})).toBe('en');
    expect(choose({ 'accept-language': 'fr, de-AT;q=0.8, en;q=0.9' })).toBe('en');
    expect(choose({ 'accept-language': 'fr, de-AT;q=0.8, en;q=0.1' })).toBe('de');
    expect(choose({ 'accept-language': 'zh-Hans-CN' })).toBe('zh');
    expect(choose({ 'accept-language': 'de;q=0' })).toBe('en');
    expect(choose({ cookie: 'a=b; tollgate_language=zh', 'accept-language': 'de' })).toBe('zh');
    expect(choose({ cookie: 'tollgate_language=xx', 'accept-language': 'de' })).toBe('de');
  });

  test('is one on offer', () => {
    expect(chooseLanguage(new Headers({ 'accept-language': 'de' }), ['zh', 'en'])).toBe('zh');
  });
});

/** The names of the arguments and tags of a message. */
function argumentsOf(text: string): Set<string> {
  const names = new Set<string>();
  eachArgument(text, (name) => names.add(name));
  return names;
}

/** The categories of each plural of a message. */
function pluralsOf(text: string): string[] {
  const plurals: string[] = [];
  eachArgument(text, (_, kind, options) => {
    if (kind === PLURAL) plurals.push(Object.keys(options).sort().join());
  });
  return plurals;
}

/** How `icu-minify` marks a plural. */
const PLURAL = 2;

/** Reads `[name]`, `[name, kind, options]`, and tags: `[name, ...children]`. */
function eachArgument(
  text: string,
  visit: (name: string, kind: unknown, options: object) => void,
): void {
  const readList = (nodes: unknown): void => {
    if (Array.isArray(nodes)) nodes.forEach(readNode);
  };
  const readNode = (node: unknown): void => {
    if (!Array.isArray(node)) return;
    const [name, kind, options] = node as readonly unknown[];
    visit(String(name), kind, Object(options));
    if (typeof kind === 'number') Object.values(options ?? {}).forEach(readList);
    else readList(node.slice(1));
  };
  readList(compile(text));
}
