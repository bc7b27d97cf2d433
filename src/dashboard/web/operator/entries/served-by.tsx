// The upstreams of a model, each with its name for it, its weight, and what differs there.

import type { ComponentChildren } from 'preact';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import type { FieldProps } from './field-props.ts';
import { listOf, tableOf, withMember } from './values.ts';

const FIRST = ['upstream', 'model', 'weight'];

export function ServedByField({
  draw,
  ...props
}: FieldProps & { readonly draw: (props: FieldProps) => ComponentChildren }) {
  const { field, value, onValue, problemAt, readOnly } = props;
  const places = listOf(value[field.name]).map(tableOf);
  const set = (next: readonly unknown[]) => onValue(withMember(value, field.name, next));
  const problem = problemAt(field.name);
  return (
    <div class="stack">
      {problem && (
        <p class="entry-problem" role="alert">
          {problem}
        </p>
      )}
      {places.map((place, at) => {
        const each = {
          ...props,
          value: place,
          fallback: undefined,
          within: `${field.name}[${at}].`,
          onValue: (next: object) => set(places.with(at, { ...next })),
        };
        const named = t('Upstream {number}', { number: at + 1 });
        const rest = (field.fields ?? []).filter(({ name }) => !FIRST.includes(name));
        const isOpen = rest.some(({ name }) => place[name] !== undefined && name !== 'cost');
        return (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a visible legend.
          <div class="entry-part" key={at} role="group" aria-label={named}>
            <div class="row apart">
              <h3>{named}</h3>
              {!readOnly && places.length > 1 && (
                <Button
                  kind="quiet-danger"
                  size="small"
                  aria-label={t('Remove upstream {number}', { number: at + 1 })}
                  onClick={() => set(places.toSpliced(at, 1))}
                >
                  {t('Remove')}
                </Button>
              )}
            </div>
            <div class="fields">
              {(field.fields ?? [])
                .filter(({ name }) => FIRST.includes(name))
                .map((one) =>
                  draw({ ...each, field: one, fallback: one.name === 'weight' ? 1 : undefined }),
                )}
            </div>
            {rest
              .filter(({ name }) => name === 'cost')
              .map((one) => (
                <div class="stack" key={one.name}>
                  <p class="soft small">
                    {t('Your cost. Without it, margins leave this upstream out.')}
                  </p>
                  {draw({ ...each, field: one })}
                </div>
              ))}
            <details open={isOpen}>
              <summary>{t('Timeout overrides')}</summary>
              <div class="fields">
                {rest
                  .filter(({ name }) => name !== 'cost')
                  .map((one) => draw({ ...each, field: one }))}
              </div>
            </details>
          </div>
        );
      })}
      {!readOnly && (
        <div>
          <Button size="small" onClick={() => set([...places, {}])}>
            {t('Add upstream')}
          </Button>
        </div>
      )}
    </div>
  );
}
