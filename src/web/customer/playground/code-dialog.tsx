// Shows the request that the playground sends as code.

import type { ConnectionRecord } from '../../../dashboard/records/key.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Link } from '../../ui/link.tsx';
import { Loaded } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { CodeTabs } from '../../ui/tabs.tsx';
import { CODE_LANGUAGES, codeFor, shortenData } from './code.ts';
import type { RequestBody } from './request.ts';
import type { Format } from './settings.ts';

export function CodeDialog({
  format,
  body,
  onClose,
}: {
  readonly format: Format;
  readonly body: RequestBody;
  readonly onClose: () => void;
}) {
  const connection = useResource<ConnectionRecord>('/connection');
  return (
    <Dialog title={t('Request as code')} wide onClose={onClose}>
      <p>
        {rich('Set {key} to one of your <link>API keys</link>.', {
          link: (children) => <Link href="/keys">{children}</Link>,
          key: <code>API_KEY</code>,
        })}
      </p>
      <Loaded resource={connection}>
        {({ base_url: baseUrl }) => {
          const code = codeFor(format, shortenData(body), { baseUrl });
          const tabs = CODE_LANGUAGES.map(({ id, label }) => ({ id, label, code: code[id] }));
          return <CodeTabs label={t('Language')} tabs={tabs} />;
        }}
      </Loaded>
    </Dialog>
  );
}
