// What is wrong now, in the order of how much it matters, each with where to go.

import type { MachineRecord } from '../../../records/operator-server.ts';
import { Alert, LinkButton } from '../../ui/index.ts';

export function Troubles({ machine }: { readonly machine: MachineRecord }) {
  const { status, problems, warnings, maintenance, catalog, upstreams } = machine;
  return (
    <>
      {status === 'not_ready' && (
        <Alert tone="danger" title="New requests should not be sent here">
          <Lines lines={problems} />
        </Alert>
      )}
      {maintenance.on && (
        <Alert
          tone="warning"
          title="Maintenance: every request is refused"
          actions={<Go href="/maintenance">Maintenance</Go>}
        >
          {maintenance.message && <p>Callers are told: {maintenance.message}</p>}
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
        <Alert title="The demonstration catalog serves" actions={<Go href="/catalog">Catalog</Go>}>
          <p>Write a catalog.toml beside the server to sell models of your own.</p>
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
