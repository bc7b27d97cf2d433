// Sentences of the server in the visitor's language, such as the problems of a file.

import type { Sentence } from '../../../dashboard/records/operator-server.ts';
import { spoken } from '../../text/said.ts';

export function Lines({ lines }: { readonly lines: readonly Sentence[] }) {
  return (
    <ul>
      {lines.map(spoken).map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
