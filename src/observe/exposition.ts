// Prints metrics in Prometheus' text format, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/. Pure.

export type Labels = Readonly<Record<string, string>>;

/** One line. Histograms have several for each series, distinguished by the suffix of the name. */
type Sample = readonly [labels: Labels, value: number, suffix?: '_bucket' | '_sum' | '_count'];

/** One metric with all of its series, as they are at this moment. */
export type Family = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
};

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function printFamilies(families: readonly Family[]): string {
  return `${families.map(printFamily).join('\n\n')}\n`;
}

function printFamily({ name, type, help, samples }: Family): string {
  const lines = samples.map(
    ([labels, value, suffix = '']) => `${name}${suffix}${printLabels(labels)} ${printValue(value)}`,
  );
  return [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}

function printLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([label, value]) => `${label}="${escapeText(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function printValue(value: number): string {
  return String(value).replace('Infinity', value > 0 ? '+Inf' : 'Inf');
}

/** A metric without labels has one series, its value. */
type Values = number | Family['samples'];

export function gauge(name: string, help: string, values: Values): Family {
  return { name, type: 'gauge', help, samples: samplesOf(values) };
}

export function counter(name: string, help: string, values: Values): Family {
  return { name, type: 'counter', help, samples: samplesOf(values) };
}

function samplesOf(values: Values): Family['samples'] {
  return typeof values === 'number' ? [[{}, values]] : values;
}
