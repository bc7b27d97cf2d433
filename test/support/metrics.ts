// Parses /metrics as strictly as a scraper: every line is well formed, and every series belongs to
// a metric with a help text and a type.

export type Series = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

const LINE =
  /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (-?[\d.]+(?:e[+-]?\d+)?|[+-]Inf)$/;

/** Throws where a line is not in the format. */
export function parseMetrics(text: string): readonly Series[] {
  const help = new Set<string>();
  const types = new Map<string, string>();
  const all: Series[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const described = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (described !== null) {
      const [, what, name = '', rest = ''] = described;
      if (what === 'HELP') help.add(name);
      else types.set(name, rest);
      continue;
    }
    const match = LINE.exec(line);
    if (match === null) throw new Error(`not a line of the format: ${line}`);
    const [, name = '', labels = '', value = ''] = match;
    const metric = metricOf(name, types);
    if (metric === undefined || !help.has(metric)) throw new Error(`${name} is not described`);
    all.push({ name, labels: labelsOf(labels), value: Number(value) });
  }
  const names = all.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
  if (new Set(names).size < names.length) throw new Error('a series comes twice');
  return all;
}

/** The sum of the series of that name whose labels are these. */
export function sumOf(
  all: readonly Series[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return all
    .filter((series) => series.name === name)
    .filter((series) => Object.entries(labels).every(([key, text]) => series.labels[key] === text))
    .reduce((sum, { value }) => sum + value, 0);
}

/** A histogram's series have a suffix behind its name. */
function metricOf(name: string, types: ReadonlyMap<string, string>): string | undefined {
  if (types.has(name)) return name;
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return types.get(base) === 'histogram' ? base : undefined;
}

function labelsOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, value]));
}
