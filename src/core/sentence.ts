// English sentences for operators with their values apart, so that pages can show them in other
// languages. The build collects the texts from the calls of `say`.

export type Sentence = {
  /** With `{name}` for each value. */
  readonly text: string;
  /** Numbers are written as the language does. */
  readonly values: Readonly<Record<string, string | number | Sentence>>;
  /** The page of the console about the cause, such as `upstreams/east`. */
  readonly about?: string | undefined;
};

/** `text` is one literal. */
export function say(
  text: string,
  values: Sentence['values'] = {},
  about?: Sentence['about'],
): Sentence {
  return { text, values, about };
}

/** A sentence that no page shows, so that no other language has it. */
export function plainly(words: string): Sentence {
  return { text: '{words}', values: { words } };
}

/** In English. */
export function wordsOf({ text, values }: Sentence): string {
  return text.replaceAll(/\{(\w+)\}/g, (name, key: string) => {
    const value = values[key] ?? name;
    return typeof value === 'object' ? wordsOf(value) : value.toLocaleString('en-US');
  });
}

/** One after the other, as one sentence. */
export function joined(sentences: readonly Sentence[], separator: string): Sentence {
  const names = sentences.map((_, at) => `part${at}`);
  return {
    text: names.map((name) => `{${name}}`).join(separator),
    values: Object.fromEntries(names.map((name, at) => [name, sentences[at] ?? ''])),
  };
}

/** With a comma between them, or what the language has in its place. */
export function listed<Part extends string | Sentence>(
  parts: readonly (Part | Sentence)[],
): Part | Sentence {
  return parts.reduce((first, next) => say('{first}, {next}', { first, next }));
}

/** In minutes, hours from one on, days from two on. */
export function sayAge(ageMs: number): Sentence {
  const hours = Math.floor(ageMs / 3_600_000);
  if (hours < 1) return say('{count} minutes', { count: String(Math.floor(ageMs / 60_000)) });
  return hours < 48
    ? say('{count} hours', { count: String(hours) })
    : say('{count} days', { count: String(Math.floor(hours / 24)) });
}
