// Shows the request that the playground sends as code.

import { Link } from 'wouter-preact';
import type { ConnectionRecord } from '../../../records/key.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { CodeTabs } from '../../ui/tabs.tsx';
import { codeFor, KEY_PLACEHOLDER, LANGUAGES, shortenData } from './code.ts';
import { requestBody, type Settings, type Turn } from './request.ts';

export function CodeDialog({
  settings,
  turns,
  onClose,
}: {
  readonly settings: Settings;
  readonly turns: readonly Turn[];
  readonly onClose: () => void;
}) {
  const connection = useResource<ConnectionRecord>('/connection');
  const body = shortenData(requestBody(settings, turns));
  return (
    <Dialog title={t('Request as code')} wide onClose={onClose}>
      <p>
        {rich('Use one of your <link>API keys</link> instead of {key}.', {
          link: (children) => <Link href="/keys">{children}</Link>,
          key: <code>{KEY_PLACEHOLDER}</code>,
        })}
      </p>
      <Loaded resource={connection}>
        {({ base_url: baseUrl }) => (
          <CodeTabs
            label={t('Language')}
            tabs={LANGUAGES.map(([id, label]) => ({
              ...{ id, label },
              code: codeFor(id, settings.format, body, baseUrl),
            }))}
          />
        )}
      </Loaded>
    </Dialog>
  );
}
