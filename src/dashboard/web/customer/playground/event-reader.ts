// Parses server-sent events from bytes split at any point. Used for the streams of both formats,
// whose events carry everything in their data lines.

type EventReader = {
  /** The data of each event that is complete now. */
  readonly feed: (bytes: Uint8Array) => readonly string[];
};

export function createEventReader(): EventReader {
  const decoder = new TextDecoder();
  let rest = '';
  return {
    feed(bytes) {
      rest += decoder.decode(bytes, { stream: true });
      const records = rest.split('\n\n');
      rest = records.pop() ?? '';
      return records.flatMap(dataOf);
    },
  };
}

function dataOf(record: string): string[] {
  const lines = record.split('\n').filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join('\n')];
}
