// The keys of an upstream: names of variables, and keys of the file, which are only marked.

import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Badge } from '../../ui/text.tsx';
import type { FieldProps } from './field-props.ts';
import { type FormValue, listOf, withMember } from './values.ts';

const KEPT = /^<kept \d+>$/;

/** One key is written as `api_key`, several ones as `api_keys`, as the file had them. */
function withKeys(value: FormValue, keys: readonly string[]): FormValue {
  const isList = Object.hasOwn(value, 'api_keys') || keys.length > 1;
  const [first] = keys;
  return isList
    ? withMember(withMember(value, 'api_key', undefined), 'api_keys', keys)
    : withMember(withMember(value, 'api_keys', undefined), 'api_key', first);
}

export function KeysField({ value, record, problemAt, onValue, readOnly }: FieldProps) {
  const isList = Object.hasOwn(value, 'api_keys');
  const keys = (isList ? listOf(value['api_keys']) : [value['api_key'] ?? []].flat()).map(String);
  const set = (next: readonly string[]) => onValue(withKeys(value, next));
  const stateOf = (name: string): string | undefined => {
    const known = record.variables.find((each) => each.name === name);
    if (known === undefined) return undefined;
    return known.is_set ? t('Set in the environment') : t('Not set in the environment');
  };
  return (
    <div class="stack">
      {keys.length === 0 && <p class="soft">{t('No key. Requests are sent without one.')}</p>}
      {keys.map((key, at) => {
        const error = problemAt(isList || keys.length > 1 ? `api_keys[${at}]` : 'api_key');
        const name = key.replace(/^\$\{([^}]*)\}?$/, '$1');
        return (
          <div class="entry-key" key={at}>
            {KEPT.test(key) ? (
              <div class="field">
                <span class="legend">{t('Key {number}', { number: at + 1 })}</span>
                <span class="row">
                  <Badge tone="neutral">{t('Set in the file')}</Badge>
                </span>
                {error && (
                  <div class="error" role="alert">
                    {error}
                  </div>
                )}
              </div>
            ) : (
              <TextField
                label={t('Variable of key {number}', { number: at + 1 })}
                hint={stateOf(name)}
                error={error}
                placeholder={t('EAST_API_KEY')}
                spellcheck={false}
                readOnly={readOnly}
                value={name}
                onInput={(text) => set(keys.with(at, `\${${text.trim()}}`))}
              />
            )}
            {!readOnly && (
              <Button
                kind="quiet-danger"
                size="small"
                aria-label={t('Remove key {number}', { number: at + 1 })}
                onClick={() => set(keys.toSpliced(at, 1))}
              >
                {t('Remove')}
              </Button>
            )}
          </div>
        );
      })}
      {!readOnly && (
        <div>
          <Button size="small" onClick={() => set([...keys, `\${}`])}>
            {t('Add key')}
          </Button>
        </div>
      )}
    </div>
  );
}
