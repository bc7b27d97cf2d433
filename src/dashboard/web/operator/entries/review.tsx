// What a draft changes: a summary, the lines of the file that differ, or the problems to correct.

import type { EntryCheckRecord } from '../../../records/operator-entries.ts';
import { t } from '../../text/t.ts';
import { Alert } from '../../ui/parts.tsx';
import { fieldText } from './labels.ts';

type DifferenceRow = EntryCheckRecord['difference'][number];

export function Review({ check }: { readonly check: EntryCheckRecord }) {
  const { problems, elsewhere, summary, difference } = check;
  if (problems.length + elsewhere.length > 0) {
    return (
      <Alert tone="danger" title={t('This cannot be published yet')}>
        <ul>
          {problems.map(({ path, text }) => (
            <li key={path}>{t('{label}: {text}', { label: pathWords(path), text })}</li>
          ))}
          {elsewhere.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Alert>
    );
  }
  if (difference.length === 0) return <p class="soft">{t('No changes.')}</p>;
  return (
    <div class="stack">
      <ul class="plain entry-summary">
        {summary.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Difference lines={difference} />
    </div>
  );
}

/** `served_by[0].weight` is `Upstreams 1, Weight`. */
function pathWords(path: string): string {
  const parts = path.split('.').map((part) => {
    const [, name = part, index] = /^(\w+)(?:\[(\d+)\])?$/.exec(part) ?? [];
    const { label } = fieldText(name);
    return index === undefined ? label : `${label} ${Number(index) + 1}`;
  });
  return path === '' ? t('Entry') : parts.join(', ');
}

const SIGNS = { same: ' ', removed: '-', added: '+', gap: ' ' } as const;

function Difference({ lines }: { readonly lines: readonly DifferenceRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keys.
    <section class="difference" tabIndex={0} aria-label={t('Changed lines of the file')}>
      <pre>
        {lines.map(({ kind, line, text }, at) => (
          <span key={at} class={kind}>
            {kind === 'gap' ? '⋯\n' : `${String(line).padStart(4)} ${SIGNS[kind]} ${text}\n`}
          </span>
        ))}
      </pre>
    </section>
  );
}
