// The current problems by severity, each with a link.

import type { MachineRecord } from '../../../records/operator-server.ts';
import { t } from '../../text/t.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Alert, Lines } from '../../ui/parts.tsx';

export function Troubles({ machine }: { readonly machine: MachineRecord }) {
  const { status, problems, warnings, maintenance, catalog, upstreams } = machine;
  return (
    <>
      {status === 'not_ready' && (
        <Alert tone="danger" title={t('Not ready for new requests')}>
          <Lines lines={problems} />
        </Alert>
      )}
      {maintenance.on && (
        <Alert
          tone="warning"
          title={t('Maintenance: all requests are rejected')}
          actions={<Go href="/maintenance">{t('Maintenance')}</Go>}
        >
          {maintenance.message && (
            <p>{t('Message to clients: {message}', { message: maintenance.message })}</p>
          )}
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert
          tone="warning"
          title={t('{warnings, plural, one {# warning} other {# warnings}}', {
            warnings: warnings.length,
          })}
          actions={
            <>
              {upstreams.troubled + upstreams.out_of_service > 0 && (
                <Go href="/upstreams">{t('Upstreams')}</Go>
              )}
              {catalog.refused && <Go href="/catalog">{t('Catalog')}</Go>}
            </>
          }
        >
          <Lines lines={warnings} />
        </Alert>
      )}
      {catalog.origin === 'built-in' && (
        <Alert
          title={t('Using the demo catalog')}
          actions={<Go href="/catalog">{t('Catalog')}</Go>}
        >
          <p>{t('Write a catalog.toml next to the server to sell your own models.')}</p>
        </Alert>
      )}
    </>
  );
}

function Go({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <LinkButton href={href} size="small">
      {children}
    </LinkButton>
  );
}
