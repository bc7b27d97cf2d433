// Snippets as tabs: one for each language or agent, with a choice of format where several work.

import { useState } from 'preact/hooks';
import type { ConnectionRecord } from '../../../dashboard/records/key.ts';
import { t } from '../../text/t.ts';
import { service } from '../../ui/service.ts';
import { CodeBlock, Segments, Tabs } from '../../ui/tabs.tsx';
import { type Snippet, snippetGroups } from './snippets.ts';

const FORMATS = {
  chat: t('Chat completions'),
  messages: t('Messages'),
  responses: t('Responses'),
} as const;

export function Snippets({
  connection,
  apiKey = 'YOUR_API_KEY',
}: {
  readonly connection: ConnectionRecord;
  readonly apiKey?: string;
}) {
  const groups = snippetGroups({
    baseUrl: connection.base_url,
    model: connection.model ?? 'MODEL',
    reasoning: connection.reasoning,
    responses: connection.responses,
    name: service.name,
    apiKey,
  });
  const [active, setActive] = useState(groups[0]?.id ?? '');
  const [format, setFormat] = useState<Snippet['format']>('chat');
  const group = groups.find(({ id }) => id === active);
  const snippet = group?.snippets.find((one) => one.format === format) ?? group?.snippets[0];
  return (
    <Tabs label={t('Where the key is used')} tabs={groups} active={active} onChange={setActive}>
      {group && snippet && (
        <div class="stack">
          <div class="row apart">
            {group.snippets.length > 1 ? (
              <Segments
                label={t('Format')}
                choices={group.snippets.map((one) => ({
                  id: one.format,
                  label: FORMATS[one.format],
                }))}
                active={snippet.format}
                onChange={setFormat}
              />
            ) : (
              <span class="soft small">
                {t('{format} format', { format: FORMATS[snippet.format] })}
              </span>
            )}
            {snippet.file && <code class="small">{snippet.file}</code>}
          </div>
          <CodeBlock code={snippet.code} label={`${group.label}, ${FORMATS[snippet.format]}`} />
        </div>
      )}
    </Tabs>
  );
}
