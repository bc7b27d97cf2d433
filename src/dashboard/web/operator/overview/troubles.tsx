// The current problems by severity, each with a link.

import type { MachineRecord } from '../../../records/operator-server.ts';
import { Alert, LinkButton } from '../../ui/index.ts';

export function Troubles({ machine }: { readonly machine: MachineRecord }) {
  const { status, problems, warnings, maintenance, catalog, upstreams } = machine;
  return (
    <>
      {status === 'not_ready' && (
        <Alert tone="danger" title="Not ready for new requests">
          <Lines lines={problems} />
        </Alert>
      )}
      {maintenance.on && (
        <Alert
          tone="warning"
          title="Maintenance: all requests are rejected"
          actions={<Go href="/maintenance">Maintenance</Go>}
        >
          {maintenance.message && <p>Message to clients: {maintenance.message}</p>}
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert
          tone="warning"
          title={warnings.length === 1 ? 'A warning' : `${warnings.length} warnings`}
          actions={
            <>
              {upstreams.troubled + upstreams.out_of_service > 0 && (
                <Go href="/upstreams">Upstreams</Go>
              )}
              {catalog.refused && <Go href="/catalog">Catalog</Go>}
            </>
          }
        >
          <Lines lines={warnings} />
        </Alert>
      )}
      {catalog.origin === 'built-in' && (
        <Alert title="Using the demo catalog" actions={<Go href="/catalog">Catalog</Go>}>
          <p>Write a catalog.toml next to the server to sell your own models.</p>
        </Alert>
      )}
    </>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ul>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function Go({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <LinkButton href={href} size="small">
      {children}
    </LinkButton>
  );
}
